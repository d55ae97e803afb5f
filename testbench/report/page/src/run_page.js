// SPDX-License-Identifier: MIT
// The report of a run, or of several runs in comparison.
import { clear_charts, draw_all, draw_in } from './charts.js';
import { clients_section } from './clients.js';
import { comparison_section, partner } from './comparison.js';
import { configuration_section } from './configuration.js';
import { csv_button, h, select, table } from './dom.js';
import { number as n, percent, ratio, scaled, seconds, shape, short, spoken, time, whole } from './format.js';
import { energy_charts } from './energy_charts.js';
import { lines_section } from './hot_lines.js';
import { later } from './later.js';
import { tried_elsewhere, tried_section, tried_text } from './tried.js';
import { grid, section, tiles } from './layout.js';
import { flop_roofline_chart, roofline_chart } from './roofline.js';
import * as charts from './run_charts.js';
import { link_places, source_section } from './source_view.js';
import { state_colours, is_dark, on_theme } from './theme.js';
import * as time_charts from './time_charts.js';
import { what_changed_section } from './what_changed.js';

function verdict_section(kernel, file, files) {
  const metrics = file.metrics;
  const v = kernel.judged,
    config = metrics.gpu.config;
  return section(
    'Verdict',
    h(
      'div',
      { class: 'verdict', 'data-kind': v.kind },
      h('p', { class: 'headline' }, v.headline),
      v.reasons.map((r) => h('p', {}, r)),
      v.changes.length > 0 && [
        h('p', {}, `Most worth changing${v.changes.length > 1 ? ', the first one first' : ''}:`),
        h(
          'ol',
          {},
          v.changes.map((c) =>
            h(
              'li',
              { 'data-tried': c.tried?.status },
              h('code', {}, c.options),
              ` instead of ${c.from}: ${c.why}.`,
              c.tried ? [' ', h('strong', {}, tried_text(c.tried))] : tried_elsewhere(c, kernel, file, files),
            ),
          ),
        ),
      ],
      v.advice?.length > 0 && [
        h('p', {}, 'In the kernel, with what mending would bring by estimate:'),
        h(
          'ol',
          {},
          v.advice.map((a) =>
            h('li', {}, a.place && h('code', {}, a.place), `${a.place ? ': ' : ''}${a.rule}: ${a.finding}. `, h('strong', {}, `${a.speedup.toFixed(2)} times as fast`), `: ${a.remedy}.`),
          ),
        ),
      ],
      (v.changes.length > 0 || v.advice?.length > 0) && h(
        'p',
        { class: 'muted' },
        v.changes.some((c) => c.tried)
          ? 'Found by rules from the metrics; what is marked has been tried by heddle whatif, on the whole job.'
          : 'Found by rules from the metrics, not by trying, unless it says tried: heddle whatif tries the changes of the machine; or run it again with one and put both files into one report.',
      ),
    ),
    tiles([
      ...(kernel.client ? [['client', kernel.client]] : []),
      ['kernel cycles', whole(kernel.cycles)],
      ['kernel time', time(seconds(kernel.cycles, config))],
      ['job cycles', whole(metrics.cycles)],
      ['job time', time(seconds(metrics.cycles, config))],
      ['IPC of an SM', n(kernel.metrics.ipc).toFixed(2)],
      ['issue slots used', percent(kernel.metrics.issue_slot_utilization)],
      ['occupancy', `${percent(kernel.metrics.achieved_occupancy)} of ${percent(kernel.theoretical_occupancy)}`],
      ['grid', shape(kernel.grid)],
      ['block', shape(kernel.block)],
      ['registers a thread', short(kernel.registers_per_thread)],
      ['shared memory a block', whole(kernel.shared_bytes_per_block) + ' B'],
    ]),
  );
}

function scheduler_section(kernel, config) {
  const parts = n(config['sm.sub_partitions']) || 1,
    m = kernel.metrics,
    cycles = n(m.ipc) > 0 ? n(m.inst_executed) / n(m.ipc) : 0;
  const slots = cycles * parts;
  const rows = [
    ['Schedulers of an SM', parts],
    ['Policy', String(config['sub_partition.scheduler'] ?? '')],
    ['Issue width', n(config['sub_partition.issue_width'])],
    ['Warps of a scheduler, on average', ratio(n(kernel.warp_cycles.active), slots)],
    ['Eligible warps of a scheduler', ratio(n(m.eligible_warps_per_cycle), parts)],
    ['Cycles in which a scheduler issued', ratio(n(m.issue_slots), slots)],
    ['Cycles in which it issued two', ratio(n(m.inst_issued2), slots)],
    ['Instructions a warp', n(m.inst_per_warp)],
    ['Active threads of 32', n(m.warp_execution_efficiency) * 32],
    ['Replays an instruction', n(m.inst_replay_overhead)],
    ['Branches that do not diverge', n(m.branch_efficiency)],
  ];
  return section(
    'Scheduler',
    grid(
      h(
        'figure',
        {},
        h(
          'figcaption',
          {},
          h('h3', {}, 'Scheduler statistics'),
          csv_button('scheduler', ['statistic', 'value'], () => rows),
        ),
        h('p', { class: 'about' }, 'While an SM held warps of the kernel.'),
        table('Scheduler statistics', [{ name: 'statistic' }, { name: 'value', format: short, number: true }], rows),
      ),
      charts.instruction_chart(kernel),
    ),
  );
}

function memory_section(kernel, config) {
  const { l1 = {}, l2 = {}, dram = {}, shared = {}, bulk, cluster } = kernel.memory,
    m = kernel.metrics;
  const bytes = (v) => scaled(v, 'B');
  const most = Math.max(1, n(l1.read_bytes), n(l2.read_bytes), n(dram.read_bytes));
  const hits = (c) =>
    n(c.accesses) > 0 ? `${percent(n(c.hits) / c.accesses)} hits, ${percent(n(c.merges) / c.accesses)} merged` : 'no accesses';
  const level = (name, ...lines) =>
    h(
      'li',
      {},
      h('strong', {}, name),
      lines.filter(Boolean).map((l) => h('div', {}, l)),
    );
  const link = (text, moved) => {
    const pipe = h('div', { class: 'pipe' });
    pipe.style.setProperty('--thick', 20 * ratio(moved, most) + 'px');
    return h('li', { class: 'link' }, text, pipe);
  };
  const l1_answers = Math.max(0, n(l2.read_bytes));
  const rows = [
    ['threads to L1', 'read', n(l1.read_bytes)],
    ['threads to L1', 'written', n(l1.write_bytes)],
    ['L1', 'accesses', n(l1.accesses)],
    ['L1', 'hits', n(l1.hits)],
    ['L1', 'merges', n(l1.merges)],
    ['L2 to L1', 'read', n(l2.read_bytes)],
    ['L1 to L2', 'written', n(l2.write_bytes)],
    ['L2', 'accesses', n(l2.accesses)],
    ['L2', 'hits', n(l2.hits)],
    ['L2', 'merges', n(l2.merges)],
    ['DRAM', 'read', n(dram.read_bytes)],
    ['DRAM', 'written', n(dram.write_bytes)],
    ['DRAM', 'row hits', n(dram.row_hits)],
    ['DRAM', 'row misses', n(dram.row_misses)],
    ['shared memory', 'accesses', n(shared.accesses)],
    ['shared memory', 'bank conflicts', n(shared.bank_conflicts)],
    ...['copies', 'read_bytes', 'written_bytes'].filter(() => bulk).map((key) => ['bulk copies', key.replace('_bytes', ''), n(bulk[key])]),
    ...['requests', 'bytes', 'flits', 'barrier_arrivals'].filter(() => cluster).map((key) => ['SMs of a cluster', key.replace('_', ' '), n(cluster[key])]),
  ];
  const bus = n(dram.busy_cycles) + n(dram.idle_cycles) + n(dram.refresh_cycles) + n(dram.turnaround_cycles) + n(dram.row_cycles);
  return section(
    'Memory',
    h(
      'figure',
      {},
      h(
        'figcaption',
        {},
        h('h3', {}, 'Traffic and hit rates'),
        csv_button('memory', ['place', 'what', 'count or bytes'], () => rows),
      ),
      h('p', { class: 'about' }, 'From the threads to the memory; bars are as thick as the bytes read.'),
      h(
        'ol',
        { class: 'chain' },
        level(
          'SMs',
          `${whole(kernel.instructions.ldst)} memory instructions`,
          `shared: ${whole(shared.accesses)} accesses, ${whole(shared.bank_conflicts)} bank conflicts`,
          [
            n(m.gld_transactions) > 0 ? `loads use ${percent(m.gld_efficiency)} of the bytes moved` : 'no global loads',
            n(m.gst_transactions) > 0 ? `stores ${percent(m.gst_efficiency)}` : 'no global stores',
          ].join(', '),
          bulk && `bulk copies past the L1: ${whole(bulk.copies)}, ${bytes(n(bulk.read_bytes))} read, ${bytes(n(bulk.written_bytes))} written`,
          cluster && `to other SMs of the cluster: ${whole(cluster.requests)} accesses, ${bytes(n(cluster.bytes))}; ${whole(cluster.barrier_arrivals)} arrivals at its barriers`,
        ),
        link(`${bytes(n(l1.read_bytes))} read, ${bytes(n(l1.write_bytes))} written`, n(l1.read_bytes)),
        level('L1', hits(l1), `${bytes(n(config['l1.size_bytes']))} an SM`),
        link(`${bytes(l1_answers)} read, ${bytes(n(l2.write_bytes))} written`, l1_answers),
        level('L2', hits(l2), bytes(n(config['l2.size_bytes'])), `${whole(l2.atomics)} atomics`),
        link(`${bytes(n(dram.read_bytes))} read, ${bytes(n(dram.write_bytes))} written`, n(dram.read_bytes)),
        level(
          'DRAM',
          n(dram.row_hits) + n(dram.row_misses) > 0
            ? `${percent(ratio(n(dram.row_hits), n(dram.row_hits) + n(dram.row_misses)))} row hits`
            : 'no rows opened',
          bus > 0 ? `bus moves data ${percent(n(dram.busy_cycles) / bus)} of the time from first to last byte` : 'no traffic',
        ),
      ),
    ),
  );
}

function heat_map_section(metrics) {
  const place = h('div');
  const show = (what) => {
    place.replaceChildren(
      time_charts.sm_heat_map(
        metrics,
        what,
        select(
          'Shows',
          kinds.map((k) => k[1]),
          kinds.findIndex((k) => k[0] === what),
          (i) => show(kinds[i][0]),
        ),
      ) ?? '',
    );
    draw_in(place);
  };
  const kinds = [
    ['instructions', 'instructions'],
    ['occupancy', 'occupancy'],
  ].filter(([what]) =>
    what === 'occupancy' ? metrics.sms.some((s) => s.occupancy_over_time?.length > 0) : metrics.intervals?.end_cycles?.length > 0,
  );
  if (kinds.length === 0) return null;
  show(kinds[0][0]);
  return section('SMs over time', place);
}

function run_sections(file, kernel, { files, parameters = {} }, source) {
  const { metrics } = file,
    config = metrics.gpu.config,
    kernels = metrics.kernels;
  const by_time = [...kernels].sort((a, b) => b.cycles - a.cycles);
  const bars = (key) => by_time.map((k) => ({ label: charts.kernel_label(k), counts: k[key] }));
  const top = kernel.judged.longest_wait,
    power = time_charts.power_over_time_chart(metrics);
  return [
    verdict_section(kernel, file, files),
    clients_section(metrics),
    section('Speed of light', grid(charts.speed_of_light_chart(kernel), flop_roofline_chart(kernel), roofline_chart(kernel))),
    section(
      'Occupancy',
      h(
        'p',
        { class: 'about' },
        `${whole(kernel.blocks)} blocks, ${whole(kernel.blocks_per_sm)} on an SM at a time: ${n(kernel.waves).toFixed(2)} waves. Limited by ${(kernel.occupancy_limiters ?? []).map(spoken).join(', ') || 'nothing'}.`,
      ),
      grid(charts.occupancy_chart(kernel), time_charts.occupancy_over_time_chart(kernel)),
    ),
    scheduler_section(kernel, config),
    section(
      'Stalls',
      grid(
        charts.stall_chart(
          'stalls',
          'Stall reasons',
          `Active warp-cycles of each kernel, longest kernel first, by the profiler's stall reasons.${top ? ` Of the chosen kernel, ${percent(top.share)} are ${spoken(top.name)}.` : ''}`,
          bars('warp_cycles'),
        ),
        charts.stall_chart(
          'warp_states',
          'Warp states',
          'The same warp-cycles by the names of newer profilers.',
          bars('warp_states'),
        ),
      ),
      grid(
        time_charts.stalls_over_time_chart(metrics.intervals, kernels),
        power,
        time_charts.rates_over_time_chart(metrics.intervals),
      ),
    ),
    memory_section(kernel, config),
    kernel.energy &&
      section(
        'Energy',
        grid(...energy_charts(kernel)),
        power && h('p', { class: 'about' }, h('a', { href: '#' + power.id }, 'Power over time'), ' is beside what warps did, over the same cycles.'),
      ),
    source.section,
    lines_section(kernel, metrics.host?.view),
    tried_section(metrics.tried),
    heat_map_section(metrics),
    metrics.context_switches?.length > 0 && section('Context switches', charts.switch_chart(metrics.context_switches, kernels)),
    configuration_section(file, parameters),
  ];
}

// Every kernel of every file, and where it is.
const kernels_of = (files) =>
  files.flatMap((f, file) => f.metrics.kernels.map((k, kernel) => ({ file, kernel, label: files.length > 1 ? `${f.name}: ${charts.kernel_label(k)}` : charts.kernel_label(k) })));

// The two kernels of a comparison, in the order of the page.
function pair_of(files, all, baseline, file, kernel) {
  if (baseline < 0 || kernel < 0) return null;
  const chosen = all.findIndex((k) => k.file === file && k.kernel === kernel);
  if (chosen === baseline) return null;
  return [baseline, chosen].sort((x, y) => x - y).map((i) => ({ file: files[all[i].file], kernel: files[all[i].file].metrics.kernels[all[i].kernel] }));
}

const linked_tables = 12; // hot lines whose places are links

function link_sections(main, source) {
  link_places(main.querySelectorAll('.verdict code'), source);
  for (const body of main.querySelectorAll('#hot-lines tbody')) link_places([...body.querySelectorAll('tr > th')].slice(0, linked_tables), source);
}

/// Builds the report in `main`, and the choosers of file and kernel in `bar`; `listed` receives the sections.
export function run_page(data, main, bar, listed) {
  const { files } = data,
    all = kernels_of(files);
  let file = 0,
    kernel = -1,
    baseline = null; // null: not chosen by the reader
  const longest = (kernels) => kernels.reduce((best, k, i) => (k.cycles > kernels[best].cycles ? i : best), 0);
  const failed = (kernels) => kernels.findIndex((k) => k.failed);
  const partner_index = (kernels, index, others) => Math.max(0, others.indexOf(index < 0 ? others[0] : partner(kernels, index, others)));
  // Beside other files, the same kernel in the first of them.
  const own_baseline = () => {
    const other = file === 0 ? 1 : 0;
    if (files.length < 2 || files[other].metrics.kernels.length === 0 || kernel < 0) return -1;
    const at = partner_index(files[file].metrics.kernels, kernel, files[other].metrics.kernels);
    return all.findIndex((k) => k.file === other && k.kernel === at);
  };
  const choosers = (against) =>
    [
      files.length > 1 &&
        select('File', files.map((f) => f.name), file, (i) => {
          file = i;
          kernel = -1;
          show();
        }),
      files[file].metrics.kernels.length > 1 &&
        select('Kernel', files[file].metrics.kernels.map(charts.kernel_label), kernel, (i) => {
          kernel = i;
          show();
        }),
      all.length > 1 &&
        select('Compare with', ['nothing', ...all.map((k) => k.label)], against + 1, (i) => {
          baseline = i - 1;
          show();
        }),
    ].filter(Boolean);
  const show = () => {
    clear_charts();
    const { kernels } = files[file].metrics;
    if (kernel < 0 || kernel >= kernels.length) kernel = kernels.length === 0 ? -1 : failed(kernels) >= 0 ? failed(kernels) : longest(kernels);
    const against = baseline ?? own_baseline();
    bar.replaceChildren(...choosers(against));
    const chosen = kernels[kernel];
    const source = chosen ? source_section(chosen, files[file].metrics.sources) : null;
    const sections = chosen
      ? run_sections(files[file], chosen, data, source)
      : [section('Verdict', h('p', {}, 'No kernel ran.')), configuration_section(files[file], data.parameters ?? {})];
    const pair = pair_of(files, all, against, file, kernel);
    if (pair !== null) sections.unshift(what_changed_section(...pair, data.parameters ?? {}));
    if (files.length > 1 && files[0].metrics.kernels.length > 0)
      sections.unshift(comparison_section(files, partner_index(kernels, kernel, files[0].metrics.kernels)));
    main.replaceChildren(...sections.filter(Boolean));
    listed([...main.querySelectorAll('section')]);
    draw_all();
    if (source?.section)
      later(() => {
        if (!source.section.isConnected) return;
        source.first_choice();
        link_sections(main, source);
      });
  };
  on_theme(() => {
    for (const bar_part of main.querySelectorAll('.meter i'))
      bar_part.style.background = (state_colours[bar_part.dataset.state] ?? ['#777777', '#aaaaaa'])[is_dark() ? 1 : 0];
  });
  show();
}

// SPDX-License-Identifier: MIT
// The report of a run, or of several beside each other.
import { axis, chart, clear_charts, draw_all, draw_in } from './charts.js';
import { csv_button, fresh_id, h, select, table } from './dom.js';
import { number as n, percent, ratio, scaled, shape, short, spoken, time, whole } from './format.js';
import { speed_of_light } from './peaks.js';
import * as charts from './run_charts.js';
import { state_colours, is_dark, on_theme } from './theme.js';
import { verdict, waits } from './verdict.js';

export const section = (title, ...content) => {
  const id = title.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  return h('section', { id, 'aria-labelledby': id + '-heading' }, h('h2', { id: id + '-heading' }, title), content);
};
export const tiles = (entries) => h('dl', { class: 'tiles' }, entries.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
const grid = (...items) => h('div', { class: 'grid' }, items);

function verdict_section(kernel, config, command) {
  const v = verdict(kernel, config);
  return section('Verdict', h('div', { class: 'verdict', 'data-kind': v.kind },
    h('p', { class: 'headline' }, v.headline), v.reasons.map((r) => h('p', {}, r)),
    v.changes.length > 0 && [h('p', {}, `Most worth changing${v.changes.length > 1 ? ', the first one first' : ''}:`),
      h('ol', {}, v.changes.map((c) => h('li', {}, h('code', {}, `--set ${c.key}=${c.to}`), ` instead of ${c.from}: ${c.why}.`)))],
    h('p', { class: 'muted' }, 'Found by rules from the metrics, not by trying: run it again with the change and put both files into one report.')),
  tiles([['cycles', whole(kernel.cycles)], ['time', time(ratio(n(kernel.cycles), n(config['gpu.core_clock_mhz']) * 1e6))],
    ['IPC of an SM', n(kernel.metrics.ipc).toFixed(2)], ['issue slots used', percent(kernel.metrics.issue_slot_utilization)], ['occupancy', `${percent(kernel.metrics.achieved_occupancy)} of ${percent(kernel.theoretical_occupancy)}`],
    ['grid', shape(kernel.grid)], ['block', shape(kernel.block)], ['registers a thread', short(kernel.registers_per_thread)], ['shared memory a block', whole(kernel.shared_bytes_per_block) + ' B']]));
}

function scheduler_section(kernel, config) {
  const parts = n(config['sm.sub_partitions']) || 1, m = kernel.metrics, cycles = n(m.ipc) > 0 ? n(m.inst_executed) / n(m.ipc) : 0;
  const slots = cycles * parts;
  const rows = [['Schedulers of an SM', parts], ['Policy', String(config['sub_partition.scheduler'] ?? '')], ['Issue width', n(config['sub_partition.issue_width'])],
    ['Warps of a scheduler, on average', ratio(n(kernel.warp_cycles.active), slots)], ['Eligible warps of a scheduler', ratio(n(m.eligible_warps_per_cycle), parts)],
    ['Cycles in which a scheduler issued', ratio(n(m.issue_slots), slots)], ['Cycles in which it issued two', ratio(n(m.inst_issued2), slots)],
    ['Instructions a warp', n(m.inst_per_warp)], ['Active threads of 32', n(m.warp_execution_efficiency) * 32], ['Replays an instruction', n(m.inst_replay_overhead)], ['Branches that do not diverge', n(m.branch_efficiency)]];
  return section('Scheduler', grid(h('figure', {}, h('figcaption', {}, h('h3', {}, 'Scheduler statistics'), csv_button('scheduler', ['statistic', 'value'], () => rows)),
    h('p', { class: 'about' }, 'While an SM held warps of the kernel.'), table('Scheduler statistics', [{ name: 'statistic' }, { name: 'value', format: short, number: true }], rows)), charts.instruction_chart(kernel)));
}

function memory_section(kernel, config) {
  const { l1 = {}, l2 = {}, dram = {}, shared = {} } = kernel.memory, m = kernel.metrics;
  const bytes = (v) => scaled(v, 'B');
  const most = Math.max(1, n(l1.read_bytes), n(l2.read_bytes), n(dram.read_bytes));
  const hits = (c) => (n(c.accesses) > 0 ? `${percent(n(c.hits) / c.accesses)} hits, ${percent(n(c.merges) / c.accesses)} merged` : 'no accesses');
  const level = (name, ...lines) => h('li', {}, h('strong', {}, name), lines.map((l) => h('div', {}, l)));
  const link = (text, moved) => {
    const pipe = h('div', { class: 'pipe' });
    pipe.style.setProperty('--thick', 2 + 18 * ratio(moved, most) + 'px');
    return h('li', { class: 'link' }, text, pipe);
  };
  const l1_answers = Math.max(0, n(l2.read_bytes));
  const rows = [['threads to L1', 'read', n(l1.read_bytes)], ['threads to L1', 'written', n(l1.write_bytes)], ['L1', 'accesses', n(l1.accesses)], ['L1', 'hits', n(l1.hits)], ['L1', 'merges', n(l1.merges)],
    ['L2 to L1', 'read', n(l2.read_bytes)], ['L1 to L2', 'written', n(l2.write_bytes)], ['L2', 'accesses', n(l2.accesses)], ['L2', 'hits', n(l2.hits)], ['L2', 'merges', n(l2.merges)],
    ['DRAM', 'read', n(dram.read_bytes)], ['DRAM', 'written', n(dram.write_bytes)], ['DRAM', 'row hits', n(dram.row_hits)], ['DRAM', 'row misses', n(dram.row_misses)],
    ['shared memory', 'accesses', n(shared.accesses)], ['shared memory', 'bank conflicts', n(shared.bank_conflicts)]];
  const bus = n(dram.busy_cycles) + n(dram.idle_cycles) + n(dram.refresh_cycles) + n(dram.turnaround_cycles) + n(dram.row_cycles);
  return section('Memory', h('figure', {}, h('figcaption', {}, h('h3', {}, 'Traffic and hit rates'), csv_button('memory', ['place', 'what', 'count or bytes'], () => rows)),
    h('p', { class: 'about' }, 'From the threads to the memory; bars are as thick as the bytes read.'),
    h('ol', { class: 'chain' },
      level('SMs', `${whole(kernel.instructions.ldst)} memory instructions`, `shared: ${whole(shared.accesses)} accesses, ${whole(shared.bank_conflicts)} bank conflicts`,
        `loads use ${percent(m.gld_efficiency)}, stores ${percent(m.gst_efficiency)} of the bytes moved`),
      link(`${bytes(n(l1.read_bytes))} read, ${bytes(n(l1.write_bytes))} written`, n(l1.read_bytes)), level('L1', hits(l1), `${bytes(n(config['l1.size_bytes']))} an SM`),
      link(`${bytes(l1_answers)} read, ${bytes(n(l2.write_bytes))} written`, l1_answers), level('L2', hits(l2), bytes(n(config['l2.size_bytes'])), `${whole(l2.atomics)} atomics`),
      link(`${bytes(n(dram.read_bytes))} read, ${bytes(n(dram.write_bytes))} written`, n(dram.read_bytes)),
      level('DRAM', `${percent(ratio(n(dram.row_hits), n(dram.row_hits) + n(dram.row_misses)))} row hits`, bus > 0 ? `bus moves data ${percent(n(dram.busy_cycles) / bus)} of the time` : 'no traffic'))));
}

const hot_lines = 60;

function lines_section(kernel) {
  const lines = [...(kernel.lines ?? [])].map((l) => ({ ...l, lost: n(l.warp_cycles.active) - n(l.warp_cycles.selected) })).sort((a, b) => b.lost - a.lost);
  if (lines.length === 0) return null;
  const all = n(kernel.warp_cycles.active);
  const states = Object.keys(lines[0].warp_cycles).filter((s) => s !== 'active' && s !== 'selected');
  const worst = (l) => states.reduce((a, b) => (n(l.warp_cycles[b]) > n(l.warp_cycles[a]) ? b : a));
  const meter = (l) => h('span', { class: 'meter', 'aria-hidden': 'true' }, states.filter((s) => n(l.warp_cycles[s]) > 0).map((s) => {
    const bar = h('i', { 'data-state': s });
    bar.style.width = 100 * ratio(n(l.warp_cycles[s]), lines[0].lost) + '%';
    bar.style.background = (state_colours[s] ?? ['#777777', '#aaaaaa'])[is_dark() ? 1 : 0];
    return bar;
  }));
  const rows = lines.slice(0, hot_lines).map((l) => [l.line, h('code', {}, l.text ?? ''), l.executed, ratio(l.lost, all), meter(l), l.lost > 0 ? `${spoken(worst(l))} ${percent(ratio(n(l.warp_cycles[worst(l)]), l.lost))}` : '']);
  return section('Hot lines', h('figure', {}, h('figcaption', {}, h('h3', {}, kernel.file || 'The program'),
    csv_button('hot_lines', ['line', 'text', 'executed', ...Object.keys(lines[0].warp_cycles)], () => lines.map((l) => [l.line, l.text ?? '', l.executed, ...Object.values(l.warp_cycles)]))),
  h('p', { class: 'about' }, `Lines at which warps waited longest, and for what: share of all warp-cycles of the kernel. ${lines.length > hot_lines ? `The first ${hot_lines} of ${lines.length}.` : ''}`),
  table(`Hot lines of ${kernel.file || kernel.name}`, [{ name: 'line', format: String }, { name: 'source' }, { name: 'executed', format: whole }, { name: 'warp-cycles lost', format: percent }, { name: '' }, { name: 'most to' }], rows)));
}

function heat_map_section(metrics) {
  const place = h('div');
  const show = (what) => {
    place.replaceChildren(charts.sm_heat_map(metrics, what, select('Shows', kinds.map((k) => k[1]), kinds.findIndex((k) => k[0] === what), (i) => show(kinds[i][0]))) ?? '');
    draw_in(place);
  };
  const kinds = [['instructions', 'instructions'], ['occupancy', 'occupancy']].filter(([what]) => (what === 'occupancy' ? metrics.sms.some((s) => s.occupancy_over_time?.length > 0) : metrics.intervals?.end_cycles?.length > 0));
  if (kinds.length === 0) return null;
  show(kinds[0][0]);
  return section('SMs over time', place);
}

function configuration_section(file, parameters) {
  const config = file.metrics.gpu.config, preset = file.preset;
  const keys = Object.keys(config);
  const changed = preset === null ? [] : keys.filter((k) => preset[k] !== config[k]);
  const place = h('div'), id = fresh_id('filter');
  const filter = h('input', { id, type: 'search', placeholder: 'such as l1.' });
  let only = changed.length > 0;
  const show = () => {
    const found = keys.filter((k) => (!only || changed.includes(k)) && (k + ' ' + (parameters[k] ?? '')).toLowerCase().includes(filter.value.toLowerCase()));
    const value = (k) => h('span', { class: changed.includes(k) ? 'changed' : null }, String(config[k]) + (changed.includes(k) ? ' (changed)' : ''));
    place.replaceChildren(table('Configuration', [{ name: 'parameter' }, { name: 'value' }, { name: 'shipped' }, { name: 'meaning' }], found.map((k) => [h('code', {}, k), value(k), preset === null ? '' : String(preset[k] ?? ''), parameters[k] ?? ''])));
  };
  filter.addEventListener('input', show);
  const check = h('input', { type: 'checkbox', id: id + '-only', checked: only });
  check.addEventListener('change', () => { only = check.checked; show(); });
  show();
  const said = preset === null ? `No GPU of the name '${file.metrics.gpu.name}' is shipped to compare with.` : changed.length === 0 ? `All as shipped for ${file.metrics.gpu.name}.` : `${changed.length} of ${keys.length} parameters differ from those shipped for ${file.metrics.gpu.name}.`;
  return section('Configuration', h('figure', {}, h('figcaption', {}, h('h3', {}, file.metrics.gpu.name), csv_button('configuration', ['parameter', 'value', 'shipped'], () => keys.map((k) => [k, config[k], preset?.[k] ?? '']))),
    h('p', { class: 'about', id: 'configuration-differences' }, said),
    h('div', { class: 'bar' }, h('span', { class: 'field' }, h('label', { for: id }, 'Search'), filter), h('span', { class: 'field' }, check, h('label', { for: id + '-only' }, 'only differences'))), place));
}

// The kernel of another file that is the same: by launch and name, by name, by place.
export const partner = (kernel, index, kernels) => kernels.find((k) => k.name === kernel.name && k.launch === kernel.launch) ?? kernels.find((k) => k.name === kernel.name) ?? kernels[index];

function comparison_section(files, index) {
  const first = files[0].metrics.kernels[index];
  const runs = files.map((f) => ({ name: f.name, kernel: partner(first, index, f.metrics.kernels), config: f.metrics.gpu.config, gpu: f.metrics.gpu.name })).filter((r) => r.kernel);
  const measures = [['cycles', (k) => k.cycles, whole], ['IPC of an SM', (k) => k.metrics.ipc, short], ['issue slots used', (k) => k.metrics.issue_slot_utilization, percent], ['achieved occupancy', (k) => k.metrics.achieved_occupancy, percent],
    ['theoretical occupancy', (k) => k.theoretical_occupancy, percent], ['L1 hits', (k) => ratio(n(k.memory.l1?.hits), n(k.memory.l1?.accesses)), percent], ['L2 hits', (k) => ratio(n(k.memory.l2?.hits), n(k.memory.l2?.accesses)), percent],
    ['DRAM bytes', (k) => n(k.memory.dram?.read_bytes) + n(k.memory.dram?.write_bytes), (v) => scaled(v, 'B')], ['warp instructions', (k) => k.metrics.inst_executed, whole], ['registers a thread', (k) => k.registers_per_thread, short]];
  const against = (v, base) => (v === base || base === 0 ? '' : ` (× ${(v / base).toFixed(3)})`);
  const values = measures.map(([name, of, format]) => [name, ...runs.map((r) => format(n(of(r.kernel))) + against(n(of(r.kernel)), n(of(runs[0].kernel))))]);
  const keys = [...new Set(runs.flatMap((r) => Object.keys(r.config)))];
  const differing = keys.filter((k) => runs.some((r) => r.config[k] !== runs[0].config[k])).map((k) => [h('code', {}, k), ...runs.map((r) => String(r.config[k] ?? ''))]);
  const sol = runs.map((r) => new Map(speed_of_light(r.kernel, r.config).map((s) => [s.name, s.share])));
  const resources = [...new Set(sol.flatMap((s) => [...s.keys()]))];
  const columns = [{ name: 'of the kernel' }, ...runs.map((r) => ({ name: r.name, number: true }))];
  return section('Comparison', h('p', { class: 'about' }, `${charts.kernel_label(first)} in ${runs.length} files; in brackets against the first.`), h('ul', {}, runs.map((r) => h('li', {}, `${r.name} (${r.gpu}): ${verdict(r.kernel, r.config).headline}`))),
    grid(h('figure', {}, h('figcaption', {}, h('h3', {}, 'Side by side'), csv_button('comparison', ['measure', ...runs.map((r) => r.name)], () => measures.map(([name, of]) => [name, ...runs.map((r) => n(of(r.kernel)))]))), table('Measures of each file', columns, values)),
      chart({ name: 'compared_speed_of_light', title: 'Speed of light side by side', height: 90 + resources.length * (12 + 14 * runs.length), about: 'What the kernel used of what each chip can do in its time.', header: ['resource', ...runs.map((r) => r.name)], rows: () => resources.map((name) => [name, ...sol.map((s) => s.get(name) ?? 0)]),
        option: (c) => ({ tooltip: { valueFormatter: percent }, grid: { top: 40, bottom: 8 }, xAxis: axis(c, { type: 'value', min: 0, max: 1, axisLabel: { color: c.muted, formatter: (v) => 100 * v + ' %' } }), yAxis: axis(c, { type: 'category', inverse: true, data: resources, axisLabel: { color: c.text } }),
          series: runs.map((r, i) => ({ type: 'bar', name: r.name, data: resources.map((name) => sol[i].get(name) ?? 0) })) }) }),
      charts.stall_chart('compared_states', 'Warp states side by side', 'Shares of the active warp-cycles of the kernel.', runs.map((r) => ({ label: r.name, counts: r.kernel.warp_states }))),
      h('figure', {}, h('figcaption', {}, h('h3', {}, 'Parameters that differ'), csv_button('compared_parameters', ['parameter', ...runs.map((r) => r.name)], () => keys.filter((k) => runs.some((r) => r.config[k] !== runs[0].config[k])).map((k) => [k, ...runs.map((r) => r.config[k] ?? '')]))),
        differing.length > 0 ? table('Parameters that differ', [{ name: 'parameter' }, ...runs.map((r) => ({ name: r.name }))], differing) : h('p', {}, 'None: the files come from the same configuration.'))));
}

function run_sections(file, kernel, parameters) {
  const { metrics } = file, config = metrics.gpu.config, kernels = metrics.kernels;
  const by_time = [...kernels].sort((a, b) => b.cycles - a.cycles);
  const bars = (key) => by_time.map((k) => ({ label: charts.kernel_label(k), counts: k[key] }));
  const top = waits(kernel)[0];
  return [verdict_section(kernel, config),
    section('Speed of light', grid(charts.speed_of_light_chart(kernel, config), charts.roofline_chart(kernel, config))),
    section('Occupancy', h('p', { class: 'about' }, `${whole(kernel.blocks)} blocks, ${whole(kernel.blocks_per_sm)} on an SM at a time: ${n(kernel.waves).toFixed(2)} waves. Limited by ${(kernel.occupancy_limiters ?? []).map(spoken).join(', ') || 'nothing'}.`), grid(charts.occupancy_chart(kernel), charts.occupancy_over_time_chart(kernel))),
    scheduler_section(kernel, config),
    section('Stalls', grid(charts.stall_chart('stalls', 'Stall reasons', `Active warp-cycles of each kernel, longest kernel first, by the profiler's stall reasons.${top ? ` Of the chosen kernel, ${percent(top.share)} are ${spoken(top.name)}.` : ''}`, bars('warp_cycles')),
      charts.stall_chart('warp_states', 'Warp states', 'The same warp-cycles by the names of newer profilers.', bars('warp_states')), charts.stalls_over_time_chart(metrics.intervals, kernels), charts.rates_over_time_chart(metrics.intervals))),
    memory_section(kernel, config), lines_section(kernel), heat_map_section(metrics),
    metrics.context_switches?.length > 0 && section('Context switches', charts.switch_chart(metrics.context_switches, kernels)), configuration_section(file, parameters)];
}

/// Builds the report into `main`, and the choosers of file and kernel into `bar`; `listed` hears of the sections.
export function run_page(data, main, bar, listed) {
  let file = 0, kernel = -1;
  const longest = (kernels) => kernels.reduce((best, k, i) => (k.cycles > kernels[best].cycles ? i : best), 0);
  const show = () => {
    clear_charts();
    const { metrics } = data.files[file];
    if (kernel < 0 || kernel >= metrics.kernels.length) kernel = metrics.kernels.length > 0 ? longest(metrics.kernels) : -1;
    bar.replaceChildren(data.files.length > 1 ? select('File', data.files.map((f) => f.name), file, (i) => { file = i; kernel = -1; show(); }) : '',
      metrics.kernels.length > 1 ? select('Kernel', metrics.kernels.map(charts.kernel_label), kernel, (i) => { kernel = i; show(); }) : '');
    const chosen = metrics.kernels[kernel];
    const sections = chosen ? run_sections(data.files[file], chosen, data.parameters ?? {}) : [section('Verdict', h('p', {}, 'No kernel ran.')), configuration_section(data.files[file], data.parameters ?? {})];
    if (data.files.length > 1 && data.files[0].metrics.kernels.length > 0) {
      const at = partner_index(data.files[file].metrics.kernels, kernel, data.files[0].metrics.kernels);
      sections.unshift(comparison_section(data.files, at));
    }
    main.replaceChildren(...sections.filter(Boolean));
    listed([...main.querySelectorAll('section')]);
    draw_all();
  };
  const partner_index = (kernels, index, others) => Math.max(0, others.indexOf(index < 0 ? others[0] : partner(kernels[index], index, others)));
  on_theme(() => { for (const bar_part of main.querySelectorAll('.meter i')) bar_part.style.background = (state_colours[bar_part.dataset.state] ?? ['#777777', '#aaaaaa'])[is_dark() ? 1 : 0]; });
  show();
}

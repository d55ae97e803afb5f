// SPDX-License-Identifier: MIT
// Comparison of several files.
import { axis, chart } from './charts.js';
import { csv_button, h, table } from './dom.js';
import { number as n, percent, ratio, scaled, seconds, short, time, whole } from './format.js';
import { grid, section } from './layout.js';
import { kernel_label, stall_chart } from './run_charts.js';

/// The kernel of another file that corresponds to kernels[index]: the same occurrence of its launch and name, else the
/// first of its name, else the one at the same index.
export function partner(kernels, index, others) {
  const same = (k) => k.name === kernels[index].name && k.launch === kernels[index].launch;
  const before = kernels.slice(0, index).filter(same).length;
  return others.filter(same)[before] ?? others.find((k) => k.name === kernels[index].name) ?? others[index];
}

export function comparison_section(files, index) {
  const first = files[0].metrics.kernels[index];
  const found = files.map((f) => ({
    file: f.name,
    kernel: partner(files[0].metrics.kernels, index, f.metrics.kernels),
    config: f.metrics.gpu.config,
    gpu: f.metrics.gpu.name,
    job_cycles: n(f.metrics.cycles),
  }));
  // If another kernel is at this position, its name is shown beside the file.
  const runs = found
    .filter((r) => r.kernel)
    .map((r) => ({ ...r, name: r.kernel.name === first.name ? r.file : `${r.file}: ${r.kernel.name}` }));
  const same = runs.filter((r) => r.kernel.name === first.name);
  const strangers = runs.filter((r) => r.kernel.name !== first.name).map((r) => `${r.file} has no such kernel: ${r.kernel.name} is in its place.`);
  const without = found.filter((r) => !r.kernel).map((r) => `${r.file} has none to compare.`);
  // Cycles of chips with different clocks are not comparable, so their durations are shown as well.
  const measures = [
    ['kernel cycles', (k) => k.cycles, whole],
    ['kernel time', (k, r) => seconds(k.cycles, r.config), time, 'kernel time in seconds'],
    ['job cycles', (k, r) => r.job_cycles, whole],
    ['job time', (k, r) => seconds(r.job_cycles, r.config), time, 'job time in seconds'],
    ['core clock', (k, r) => n(r.config['gpu.core_clock_mhz']), (v) => `${short(v)} MHz`, 'core clock in MHz'],
    ['IPC of an SM', (k) => k.metrics.ipc, short],
    ['issue slots used', (k) => k.metrics.issue_slot_utilization, percent],
    ['achieved occupancy', (k) => k.metrics.achieved_occupancy, percent],
    ['theoretical occupancy', (k) => k.theoretical_occupancy, percent],
    ['L1 hits', (k) => ratio(n(k.memory.l1?.hits), n(k.memory.l1?.accesses)), percent],
    ['L2 hits', (k) => ratio(n(k.memory.l2?.hits), n(k.memory.l2?.accesses)), percent],
    ['DRAM bytes', (k) => n(k.memory.dram?.read_bytes) + n(k.memory.dram?.write_bytes), (v) => scaled(v, 'B')],
    ['warp instructions', (k) => k.metrics.inst_executed, whole],
    ['registers a thread', (k) => k.registers_per_thread, short],
  ];
  const against = (v, base) => (v === base || base === 0 ? '' : ` (× ${(v / base).toFixed(3)})`);
  const values = measures.map(([name, of, format]) => [
    name,
    ...runs.map((r) => format(n(of(r.kernel, r))) + against(n(of(r.kernel, r)), n(of(runs[0].kernel, runs[0])))),
  ]);
  const keys = [...new Set(runs.flatMap((r) => Object.keys(r.config)))];
  const differing = keys
    .filter((k) => runs.some((r) => r.config[k] !== runs[0].config[k]))
    .map((k) => [h('code', {}, k), ...runs.map((r) => String(r.config[k] ?? ''))]);
  const sol = runs.map((r) => new Map(r.kernel.judged.speed_of_light.map((s) => [s.name, s.share])));
  const resources = [...new Set(sol.flatMap((s) => [...s.keys()]))];
  const columns = [{ name: 'measure' }, ...runs.map((r) => ({ name: r.name, number: true }))];
  return section(
    'Comparison',
    h('p', { class: 'about' }, [`${kernel_label(first)} in ${same.length} ${same.length === 1 ? 'file' : 'files'}; in brackets against the first.`, ...strangers, ...without].join(' ')),
    h(
      'ul',
      {},
      runs.map((r) => h('li', {}, `${r.name} (${r.gpu}): ${r.kernel.judged.headline}`)),
    ),
    grid(
      h(
        'figure',
        {},
        h(
          'figcaption',
          {},
          h('h3', {}, 'Side by side'),
          csv_button('comparison', ['measure', ...runs.map((r) => r.name)], () =>
            measures.map(([name, of, , unit]) => [unit ?? name, ...runs.map((r) => n(of(r.kernel, r)))]),
          ),
        ),
        table('Measures of each file', columns, values),
      ),
      chart({
        name: 'compared_speed_of_light',
        title: 'Speed of light side by side',
        height: 110 + resources.length * (12 + 14 * runs.length),
        about: 'What the kernel used of what each chip can do in its time.',
        header: ['resource', ...runs.map((r) => r.name)],
        rows: () => resources.map((name) => [name, ...sol.map((s) => s.get(name) ?? 0)]),
        option: (c) => ({
          tooltip: { valueFormatter: percent },
          grid: { top: 40, bottom: 8 },
          xAxis: axis(c, { type: 'value', name: 'share of peak throughput', min: 0, max: 1, axisLabel: { color: c.muted, formatter: (v) => 100 * v + ' %' } }),
          yAxis: axis(c, { type: 'category', name: 'part of the chip', inverse: true, data: resources, axisLabel: { color: c.text } }),
          series: runs.map((r, i) => ({ type: 'bar', name: r.name, data: resources.map((name) => sol[i].get(name) ?? 0) })),
        }),
      }),
      stall_chart(
        'compared_states',
        'Warp states side by side',
        'Shares of the active warp-cycles of the kernel.',
        runs.map((r) => ({ label: r.name, counts: r.kernel.warp_states })),
      ),
      h(
        'figure',
        {},
        h(
          'figcaption',
          {},
          h('h3', {}, 'Parameters that differ'),
          csv_button('compared_parameters', ['parameter', ...runs.map((r) => r.name)], () =>
            keys
              .filter((k) => runs.some((r) => r.config[k] !== runs[0].config[k]))
              .map((k) => [k, ...runs.map((r) => r.config[k] ?? '')]),
          ),
        ),
        differing.length > 0
          ? table('Parameters that differ', [{ name: 'parameter' }, ...runs.map((r) => ({ name: r.name }))], differing)
          : h('p', {}, 'None: the files come from the same configuration.'),
      ),
    ),
  );
}

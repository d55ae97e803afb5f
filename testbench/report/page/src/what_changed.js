// SPDX-License-Identifier: MIT
// What changed between two kernels, of one run or of two: in configuration, code and behaviour.
import { axis, chart } from './charts.js';
import { csv_button, h, table } from './dom.js';
import { energy, number as n, percent, ratio, scaled, seconds, shape, short, spoken, time, whole } from './format.js';
import { grid, section } from './layout.js';
import { paired_lines } from './paired_lines.js';
import { kernel_label } from './run_charts.js';

const most_lines = 12;
const times = (a, b) => (a > 0 ? `× ${(b / a).toFixed(3)}` : b > 0 ? 'new' : '');
const signed = (v, format) => (v > 0 ? '+' : v < 0 ? '−' : '') + format(Math.abs(v));

function configuration(a, b) {
  const of = (side) => side.file.metrics.gpu.config;
  const keys = [...new Set([...Object.keys(of(a)), ...Object.keys(of(b))])].filter((k) => of(a)[k] !== of(b)[k]);
  const launch = [
    ['GPU', (s) => s.file.metrics.gpu.name],
    ['grid', (s) => shape(s.kernel.grid)],
    ['block', (s) => shape(s.kernel.block)],
    ['registers a thread', (s) => s.kernel.registers_per_thread],
    ['shared memory a block, bytes', (s) => s.kernel.shared_bytes_per_block],
    ['theoretical occupancy', (s) => percent(s.kernel.theoretical_occupancy)],
  ];
  return [...launch.map(([name, value]) => [name, value(a), value(b)]).filter(([, x, y]) => x !== y), ...keys.map((k) => [k, of(a)[k] ?? '', of(b)[k] ?? ''])];
}

const mnemonic = (text) => text.replace(/^@!?\w+\s+/, '').split(/[\s.;]/)[0];

function opcodes(kernel) {
  const found = new Map();
  for (const i of kernel.code ?? []) {
    const sum = found.get(mnemonic(i.text)) ?? { written: 0, executed: 0 };
    sum.written += 1;
    sum.executed += n(i.executed);
    found.set(mnemonic(i.text), sum);
  }
  return found;
}

// The first machine instruction that differs, of programs that have as many; null: none.
function first_change(a, b) {
  const [x, y] = [a.code ?? [], b.code ?? []];
  const at = x.length === y.length ? x.findIndex((i, k) => i.text !== y[k].text) : -1;
  if (at < 0) return null;
  const place = (b.lines ?? []).find((l) => l.line === y[at].line)?.source ?? `${b.file}:${y[at].line}`;
  return `${x[at].text} is ${y[at].text} at ${place.replace(/^.*\//, '')}`;
}

function code(a, b) {
  const of = [opcodes(a.kernel), opcodes(b.kernel)],
    none = { written: 0, executed: 0 };
  const rows = [...new Set([...of[0].keys(), ...of[1].keys()])].map((name) => [name, of[0].get(name) ?? none, of[1].get(name) ?? none]);
  const same = a.kernel.code?.length === b.kernel.code?.length && (a.kernel.code ?? []).every((i, at) => i.text === b.kernel.code[at].text);
  return {
    known: of[0].size > 0 && of[1].size > 0,
    same,
    first: first_change(a.kernel, b.kernel),
    rows: rows
      .filter(([, x, y]) => x.written !== y.written || x.executed !== y.executed)
      .map(([name, x, y]) => [name, x.written, y.written, x.executed, y.executed, y.executed - x.executed])
      .sort((x, y) => Math.abs(y[5]) - Math.abs(x[5])),
  };
}

const states_of = (kernel) => Object.fromEntries(Object.entries(kernel.warp_states ?? {}).filter(([s]) => s !== 'active'));

function behaviour(a, b) {
  const of = [states_of(a.kernel), states_of(b.kernel)];
  return [...new Set(of.flatMap(Object.keys))]
    .map((s) => [s, n(of[0][s]), n(of[1][s]), n(of[1][s]) - n(of[0][s])])
    .filter(([, x, y]) => x > 0 || y > 0)
    .sort((x, y) => Math.abs(y[3]) - Math.abs(x[3]));
}

const conflicts = (k) => n(k.memory.shared?.bank_conflicts);
const hits = (c) => ratio(n(c?.hits), n(c?.accesses));
const moved = [
  ['warp instructions', (k) => n(k.metrics.inst_executed), whole],
  ['IPC of an SM', (k) => n(k.metrics.ipc), short],
  ['achieved occupancy', (k) => n(k.metrics.achieved_occupancy), percent],
  ['sectors of global loads', (k) => n(k.metrics.gld_transactions), whole],
  ['sectors of global stores', (k) => n(k.metrics.gst_transactions), whole],
  ['bytes used of those loaded', (k) => n(k.metrics.gld_efficiency), percent],
  ['bytes used of those stored', (k) => n(k.metrics.gst_efficiency), percent],
  ['L1 hits', (k) => hits(k.memory.l1), percent],
  ['L2 hits', (k) => hits(k.memory.l2), percent],
  ['read from DRAM', (k) => n(k.memory.dram?.read_bytes), (v) => scaled(v, 'B')],
  ['written to DRAM', (k) => n(k.memory.dram?.write_bytes), (v) => scaled(v, 'B')],
  ['bank conflicts', conflicts, whole],
  ['floating-point operations', (k) => Object.values(k.flops ?? {}).reduce((x, y) => x + n(y), 0), whole],
  ['energy', (k) => n(k.energy?.total_joules), energy],
];

// Lines by their place in the source, or in the PTX; `waits`: warp-cycles that were not issues.
// In the order of the files.
function lines(kernel) {
  const found = new Map();
  for (const l of kernel.lines ?? []) {
    const place = (l.source ?? `${kernel.file}:${l.line}`).replace(/^.*\//, '');
    const text = l.source_text ?? l.text ?? '';
    const sum = found.get(place) ?? { place, file: place.replace(/:\d+$/, ''), number: Number(place.match(/\d+$/)), text, waits: 0 };
    sum.waits += n(l.warp_cycles.active) - n(l.warp_cycles.selected);
    found.set(place, sum);
  }
  return [...found.values()].sort((x, y) => (x.file === y.file ? x.number - y.number : x.file < y.file ? -1 : 1));
}

function changed_lines(a, b) {
  const of = [lines(a.kernel), lines(b.kernel)];
  const rows = paired_lines(...of).map(([x, y]) => [x && y && x.place !== y.place ? `${x.place} → ${y.place}` : (x ?? y).place, (y ?? x).text, n(x?.waits), n(y?.waits), n(y?.waits) - n(x?.waits)]);
  return rows.filter((row) => row[4] !== 0).sort((x, y) => Math.abs(y[4]) - Math.abs(x[4]));
}

function figure(title, about, name, header, rows, content) {
  return h('figure', {}, h('figcaption', {}, h('h3', {}, title), csv_button(name, header, () => rows)), h('p', { class: 'about' }, about), content);
}

function states_chart(rows, names) {
  return chart({
    name: 'changed_states',
    title: 'Warp states: what became more, what less',
    height: 84 + 24 * rows.length,
    about: `Warp-cycles of ${names[1]} less those of ${names[0]}. Bars to the left are saved, bars to the right are added.`,
    header: ['state', ...names, 'difference'],
    rows: () => rows,
    option: (c, width) => ({
      legend: { show: false },
      grid: { top: 8, right: 40 },
      tooltip: { valueFormatter: (v) => signed(v, whole) + ' warp-cycles' },
      xAxis: axis(c, { type: 'value', name: 'warp-cycles more', axisLabel: { color: c.muted, hideOverlap: true, formatter: (v) => scaled(v, '') } }),
      yAxis: axis(c, { type: 'category', name: 'state', inverse: true, data: rows.map((r) => spoken(r[0])), axisLabel: { color: c.text, width: width < 500 ? 120 : 180, overflow: 'truncate' } }),
      series: [{ type: 'bar', name: 'difference', barMaxWidth: 18, data: rows.map((r) => ({ value: r[3], itemStyle: { color: c.state(r[0]) } })) }],
    }),
  });
}

// In a sentence or two: how much faster, and what most of it is.
function summary(a, b, names, parts) {
  const time_of = (s) => seconds(s.kernel.cycles, s.file.metrics.gpu.config);
  const [x, y] = [time_of(a), time_of(b)],
    faster = y < x;
  const speed = x === y ? `takes as long as ${names[0]}` : faster ? `is ${(x / y).toFixed(2)} times as fast as ${names[0]}` : `takes ${(y / x).toFixed(2)} times as long as ${names[0]}`;
  const state = parts.states.find(([s, , , d]) => s !== 'selected' && (faster ? d < 0 : d > 0));
  const line = parts.lines.find(([, , , , d]) => (faster ? d < 0 : d > 0));
  return [
    h('p', { class: 'headline' }, `${names[1]} ${speed}: ${time(x)} and ${time(y)}, ${whole(a.kernel.cycles)} and ${whole(b.kernel.cycles)} cycles.`),
    h(
      'ul',
      {},
      h('li', {}, `Configuration: ${parts.configuration.length === 0 ? 'nothing changed.' : `${parts.configuration.length} changed: ${parts.configuration.slice(0, 4).map(([k, v, w]) => `${k} ${v} → ${w}`).join('; ')}${parts.configuration.length > 4 ? '; …' : '.'}`}`),
      h('li', {}, `Code: ${!parts.code.known ? 'the metrics do not hold the machine programs' : parts.code.same ? 'the same machine program' : `${a.kernel.code.length} and ${b.kernel.code.length} machine instructions`}${parts.code.rows.length > 0 ? `; most changed: ${parts.code.rows.slice(0, 3).map(([op, , , , , d]) => `${op} ${signed(d, whole)}`).join(', ')}` : parts.code.first ? `; the first that differs: ${parts.code.first}` : ''}.`),
      h('li', {}, `Behaviour: ${state ? `most of it is ${spoken(state[0])}, ${signed(state[3], whole)} warp-cycles` : 'the warps waited as before'}${line ? `; of all states most at ${line[0]}, ${signed(line[4], whole)}` : ''}.`),
    ),
  ];
}

/// `a` and `b`: {file, kernel}. `meanings`: of parameters, by name.
export function what_changed_section(a, b, meanings) {
  const names = [`A: ${kernel_label(a.kernel)}`, `B: ${kernel_label(b.kernel)}`].map((name, i) => (a.file === b.file ? name : `${name} in ${[a, b][i].file.name}`));
  const short_names = ['A', 'B'];
  const parts = { configuration: configuration(a, b), code: code(a, b), states: behaviour(a, b), lines: changed_lines(a, b) };
  const measures = moved.map(([name, of, format]) => [name, of(a.kernel), of(b.kernel), format]).filter(([, x, y]) => x !== 0 || y !== 0);
  const columns = (first, ...more) => [{ name: first }, ...more.map((name) => ({ name, number: true, format: whole }))];
  const code_header = ['instruction', 'in A', 'in B', 'executed in A', 'executed in B', 'difference'];
  return section(
    'What changed',
    h('p', { class: 'about' }, names.join('; ') + '.'),
    h('div', { class: 'verdict' }, summary(a, b, short_names, parts)),
    grid(
      figure(
        'Configuration',
        parts.configuration.length > 0 ? 'The machine’s parameters and those of the launch that differ.' : 'Machine and launch are the same.',
        'changed_configuration',
        ['parameter', 'A', 'B'],
        parts.configuration,
        parts.configuration.length > 0 &&
          table(
            'Configuration that changed',
            [{ name: 'parameter' }, { name: 'A', format: String }, { name: 'B', format: String }, { name: 'meaning' }],
            parts.configuration.map(([k, x, y]) => [h('code', {}, k), String(x), String(y), meanings[k] ?? '']),
          ),
      ),
      figure(
        'Code',
        !parts.code.known ? 'The metrics do not hold the machine programs.' : parts.code.same ? 'The machine programs are equal.' : 'Machine instructions by name: how many are in the program, and how many warps executed.',
        'changed_code',
        code_header,
        parts.code.rows,
        parts.code.rows.length > 0 && table('Machine instructions that changed', columns(...code_header), parts.code.rows.map((r) => [...r.slice(0, 5), signed(r[5], whole)])),
      ),
      parts.states.some((r) => r[3] !== 0) && states_chart(parts.states, short_names),
      figure(
        'Behaviour',
        'What the kernels did and moved.',
        'changed_behaviour',
        ['measure', 'A', 'B'],
        measures.map((m) => m.slice(0, 3)),
        table(
          'Behaviour of both kernels',
          [{ name: 'measure' }, { name: 'A', number: true }, { name: 'B', number: true }, { name: 'B to A', number: true }],
          measures.map(([name, x, y, format]) => [name, format(x), format(y), times(x, y)]),
        ),
      ),
    ),
    parts.lines.length > 0 &&
      figure(
        'Lines at which warps wait more or less',
        `Warp-cycles waited. ${parts.lines.length > most_lines ? `The first ${most_lines} of ${parts.lines.length}.` : ''}`,
        'changed_lines',
        ['line', 'text', 'A', 'B', 'difference'],
        parts.lines,
        table(
          'Lines that changed',
          [{ name: 'line' }, { name: 'source' }, { name: 'A', number: true, format: whole }, { name: 'B', number: true, format: whole }, { name: 'difference', number: true }],
          parts.lines.slice(0, most_lines).map((r) => [r[0], h('code', {}, r[1]), r[2], r[3], signed(r[4], whole)]),
        ),
      ),
  );
}

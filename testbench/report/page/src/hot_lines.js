// SPDX-License-Identifier: MIT
// The lines, of the source and of the PTX, at which warps waited longest.
import { command, shell_quoted } from './commands.js';
import { csv_button, h, table } from './dom.js';
import { energy, number as n, percent, power, ratio, scaled, short, spoken, whole } from './format.js';
import { section } from './layout.js';
import { is_dark, state_colours } from './theme.js';

const hot_lines = 60;
const most_buttons = 4; // of a table: each is a stop of the Tab key

const add_to = (sums, counts) => {
  for (const [name, count] of Object.entries(counts ?? {})) sums[name] = (sums[name] ?? 0) + n(count);
};

const with_lost = (l) => ({ ...l, lost: n(l.warp_cycles.active) - n(l.warp_cycles.selected) });

const joules_of = (kernel, l) => n(kernel.energy?.by_line?.[l.line]);
const watts_of = (kernel, l) => ratio(l.joules, n(kernel.energy?.seconds));

// The lines of the source that the PTX was compiled from (.loc), each with the sums over its PTX lines.
function source_lines(kernel) {
  const found = new Map();
  for (const l of kernel.lines ?? []) {
    if (l.source === undefined) continue;
    if (!found.has(l.source))
      found.set(l.source, { source: l.source, text: l.source_text, executed: 0, joules: 0, warp_cycles: {}, ptx: [], function: l.function });
    const sum = found.get(l.source);
    sum.executed += n(l.executed);
    sum.joules += joules_of(kernel, l);
    sum.ptx.push(l.line);
    add_to(sum.warp_cycles, l.warp_cycles);
    if (l.warp_states) add_to((sum.warp_states ??= {}), l.warp_states);
    if (l.memory) add_to((sum.memory ??= {}), l.memory);
  }
  return [...found.values()].map(with_lost).sort((x, y) => y.lost - x.lost);
}

const base_name = (place) => place.slice(place.lastIndexOf('/') + 1);

const most_ranges = 3; // in a cell

// Line numbers as "3, 7 to 9".
function ranges(numbers) {
  const parts = [];
  for (const k of [...numbers].sort((x, y) => x - y)) {
    const last = parts[parts.length - 1];
    if (last && last[1] === k - 1) last[1] = k;
    else parts.push([k, k]);
  }
  const more = parts.slice(most_ranges).reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const shown = parts.slice(0, most_ranges).map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`));
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

// A table of lines at which warps waited: `place` is the first column of a line, `more` are columns before the counts.
// `view`: the command that leads to the cycles of a line; undefined: none.
function line_table(kernel, lines, title, about, place, more, view) {
  const all = n(kernel.warp_cycles.active);
  const states = Object.keys(lines[0].warp_cycles).filter((s) => s !== 'active' && s !== 'selected');
  // By the finer states, whose words the waveform and the pipeline view have.
  const worst = (l) => {
    const waits = Object.entries(l.warp_states ?? l.warp_cycles).filter(([s]) => s !== 'active' && s !== 'selected');
    return waits.reduce((a, b) => (n(b[1]) > n(a[1]) ? b : a));
  };
  const worst_text = (l) => {
    const [state, cycles] = worst(l);
    return `${spoken(state)} ${percent(ratio(n(cycles), l.lost))}`;
  };
  const meter = (l) =>
    h(
      'span',
      { class: 'meter', 'aria-hidden': 'true' },
      states
        .filter((s) => n(l.warp_cycles[s]) > 0)
        .map((s) => {
          const bar = h('i', { 'data-state': s });
          bar.style.width = 100 * ratio(n(l.warp_cycles[s]), lines[0].lost) + '%';
          bar.style.background = (state_colours[s] ?? ['#777777', '#aaaaaa'])[is_dark() ? 1 : 0];
          return bar;
        }),
    );
  const view_of = (l) => `${view} --line ${shell_quoted(place.line(l))}`;
  const rows = lines
    .slice(0, hot_lines)
    .map((l, row) => [
      place.of(l),
      h('code', {}, l.text ?? ''),
      ...more.map((column) => column.of(l)),
      l.executed,
      ratio(l.lost, all),
      meter(l),
      l.lost > 0 ? worst_text(l) : '',
      ...(view ? [l.lost > 0 ? command(view_of(l), row < most_buttons) : ''] : []),
    ]);
  return h(
    'figure',
    {},
    h(
      'figcaption',
      {},
      h('h3', {}, title),
      csv_button(place.file, [place.name, 'text', ...more.map((c) => c.name), 'executed', ...Object.keys(lines[0].warp_cycles)], () =>
        lines.map((l) => [place.of(l), l.text ?? '', ...more.map((c) => c.of(l)), l.executed, ...Object.values(l.warp_cycles)]),
      ),
    ),
    h('p', { class: 'about' }, `${about} ${lines.length > hot_lines ? `The first ${hot_lines} of ${lines.length}.` : ''}`),
    table(
      `Hot lines of ${title}`,
      [
        { name: place.name, format: String },
        { name: 'source' },
        ...more.map((column) => ({ name: column.name, format: String })),
        { name: 'executed', format: whole },
        { name: 'warp-cycles lost', format: percent },
        { name: '' },
        { name: 'most to' },
        ...(view ? [{ name: 'waveform of its worst cycles' }] : []),
      ],
      rows,
    ),
  );
}

// What lines move in each level of the memory system: those with the most sectors or passes first.
function memory_table(kernel, lines, title, place) {
  const moved = (l) => n(l.memory.l1_sectors) + n(l.memory.shared_passes) + n(l.memory.constant_reads);
  const users = lines.filter((l) => l.memory && n(l.memory.accesses) > 0).sort((a, b) => moved(b) - moved(a));
  if (users.length === 0) return null;
  const each = (l, count) => ratio(count, n(l.memory.accesses));
  const share = (part, whole_part) => (n(whole_part) > 0 ? ratio(n(part), n(whole_part)) : '');
  const columns = [
    ['accesses', (l) => n(l.memory.accesses), whole],
    ['sectors an access', (l) => (n(l.memory.l1_sectors) > 0 ? each(l, n(l.memory.l1_sectors)) : ''), short],
    ['bytes an access', (l) => each(l, n(l.memory.requested_bytes)), short],
    ['L1 hits', (l) => share(l.memory.l1_hits, l.memory.l1_sectors), percent],
    ['L2 hits', (l) => share(l.memory.l2_hits, l.memory.l2_sectors), percent],
    ['read from DRAM', (l) => 32 * n(l.memory.dram_sectors), (v) => scaled(v, 'B')],
    ...(users.some((l) => n(l.memory.shared_passes) > 0)
      ? [['shared passes an access', (l) => (n(l.memory.shared_passes) > 0 ? each(l, n(l.memory.shared_passes)) : ''), short]]
      : []),
    ...(kernel.energy ? [['energy', (l) => l.joules, energy], ['mean power', (l) => watts_of(kernel, l), power]] : []),
  ];
  return h(
    'figure',
    {},
    h(
      'figcaption',
      {},
      h('h3', {}, title),
      csv_button(place.file, [place.name, 'text', ...Object.keys(users[0].memory), 'joules', 'watts'], () =>
        users.map((l) => [place.of(l), l.text ?? '', ...Object.values(l.memory), l.joules, watts_of(kernel, l)]),
      ),
    ),
    h(
      'p',
      { class: 'about' },
      `Of a warp's accesses, on average. A sector has 32 bytes: lanes that ask for 128 bytes need four at least. ${users.length > hot_lines ? `The first ${hot_lines} of ${users.length}.` : ''}`,
    ),
    table(
      title,
      [{ name: place.name, format: String }, { name: 'source' }, ...columns.map(([name, , format]) => ({ name, format, number: true }))],
      users.slice(0, hot_lines).map((l) => [place.of(l), h('code', {}, l.text ?? ''), ...columns.map(([, of]) => of(l))]),
    ),
  );
}

export function lines_section(kernel, view) {
  const lines = (kernel.lines ?? []).map((l) => ({ ...with_lost(l), joules: joules_of(kernel, l) })).sort((a, b) => b.lost - a.lost);
  if (lines.length === 0) return null;
  const sources = source_lines(kernel);
  const about = 'Lines at which warps waited longest, and for what: share of all warp-cycles of the kernel.';
  return section(
    'Hot lines',
    sources.length > 0
      ? line_table(
          kernel,
          sources,
          'The source',
          `${about} Each with all PTX lines that were compiled from it.`,
          { name: 'line', file: 'hot_source_lines', of: (l) => base_name(l.source), line: (l) => base_name(l.source) },
          [
            { name: 'in', of: (l) => l.function ?? '' },
            { name: 'PTX lines', of: (l) => ranges(l.ptx) },
          ],
          view,
        )
      : null,
    line_table(
      kernel,
      lines,
      kernel.file || 'The program',
      about,
      { name: 'line', file: 'hot_lines', of: (l) => l.line, line: (l) => `${kernel.file}:${l.line}` },
      sources.length > 0
        ? [{ name: 'from', of: (l) => (l.source ? [l.source, ...(l.called_at ?? [])].map(base_name).join(' < ') : '') }]
        : [],
      view,
    ),
    sources.length > 0
      ? memory_table(kernel, sources, 'Memory traffic of the source', {
          name: 'line',
          file: 'memory_source_lines',
          of: (l) => base_name(l.source),
        })
      : memory_table(kernel, lines, `Memory traffic of ${kernel.file || 'the program'}`, {
          name: 'line',
          file: 'memory_lines',
          of: (l) => l.line,
        }),
  );
}

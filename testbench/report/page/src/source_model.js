// SPDX-License-Identifier: MIT
// A kernel's CUDA source, PTX and machine program, which lines of one belong to which of the others, and their counts.
import { energy, number as n, percent, power, ratio, short, spoken, whole } from './format.js';

const place_of = (text) => {
  const colon = text.lastIndexOf(':');
  return { file: text.slice(0, colon), line: Number(text.slice(colon + 1)) };
};
export const base_name = (path) => path.slice(path.lastIndexOf('/') + 1);

const sum = (units, of) => units.reduce((total, u) => total + of(u), 0);
const waited = (u) => Object.entries(u.warp_states ?? {}).reduce((all, [s, v]) => (s === 'selected' || s === 'active' ? all : all + n(v)), 0);

// What the colour of a line can show: {key, name, of(units), format}. `of` is of all instructions of a line together.
function measures(kernel, units) {
  const count = (key, name, of, format = whole) => ({ key, name, of: (some) => sum(some, of), format });
  const states = Object.keys(kernel.warp_states ?? {}).filter((s) => s !== 'active' && s !== 'selected' && n(kernel.warp_states[s]) > 0);
  const all_states = n(kernel.warp_cycles?.active);
  const share = (v) => percent(ratio(v, all_states));
  const list = [
    count('waits', 'waiting: all stall states', waited, share),
    count('issue', 'issued warp instructions', (u) => n(u.executed) + n(u.replays)),
    ...states
      .sort((a, b) => n(kernel.warp_states[b]) - n(kernel.warp_states[a]))
      .map((s) => count('state_' + s, `stall state: ${spoken(s)}`, (u) => n(u.warp_states?.[s]), share)),
    count('threads', 'instructions of threads', (u) => n(u.thread_executed)),
    count('l1_sectors', 'sectors in the L1', (u) => n(u.memory?.l1_sectors)),
    {
      key: 'sectors_an_access',
      name: 'sectors an access',
      of: (some) => ratio(sum(some, (u) => n(u.memory?.l1_sectors)), sum(some, (u) => (n(u.memory?.l1_sectors) > 0 ? n(u.accesses) : 0))),
      format: short,
    },
    count('l2_sectors', 'sectors in the L2', (u) => n(u.memory?.l2_sectors)),
    count('dram_sectors', 'sectors read from DRAM', (u) => n(u.memory?.dram_sectors)),
    count('bank_conflicts', 'bank conflicts', (u) => n(u.bank_conflicts)),
    count('replays', 'replays', (u) => n(u.replays)),
    count('flops', 'floating-point operations', (u) => n(u.flops)),
    count('joules', 'energy', (u) => n(u.joules), energy),
    count('watts', 'mean power', (u) => ratio(n(u.joules), n(kernel.energy?.seconds)), power),
  ];
  return list.map((m) => ({ ...m, total: m.of(units) }));
}

// Metrics of other versions have no machine program: their PTX lines stand for it.
const units_of_lines = (kernel) =>
  (kernel.lines ?? []).map((l) => ({ ...l, accesses: n(l.memory?.accesses), joules: n(kernel.energy?.by_line?.[l.line]) }));

const near = (numbers, reach) => {
  const wanted = new Set();
  for (const k of numbers) for (let i = k - reach; i <= k + reach; ++i) wanted.add(i);
  return wanted;
};

// Rows of a source: those near lines of the kernel, to the first that ends it; `null` where some are left out.
function rows_near(source, used, reach, hides, ends) {
  if (!source) return [...used].sort((a, b) => a.line - b.line);
  const wanted = near([...used.map((u) => u.line)], reach);
  // Compilers give code that no line asked for the number 0.
  const rows = used.filter((u) => u.line < source.first_line || u.line >= source.first_line + source.lines.length).map((u) => ({ line: u.line, text: '(no line)' }));
  source.lines.forEach((text, i) => {
    const line = source.first_line + i;
    if (!wanted.has(line)) {
      if (rows.length > 0 && rows[rows.length - 1] !== null) rows.push(null);
    } else if (!hides(text)) rows.push({ line, text });
  });
  const last = rows.findIndex((r) => r?.line === Math.max(...used.map((u) => u.line)));
  const end = ends ? rows.findIndex((r, i) => i > last && r !== null && ends(r.text)) : -1;
  if (end > 0) rows.splice(end + 1);
  if (rows[rows.length - 1] === null) rows.pop();
  return rows;
}

/// {measures, machine, ptx, files, frames(ptx line)}: rows of the three panes. A row has `key`, `number`, `text`, `units`
/// (its instructions), and for CUDA `inlined` (instructions of functions that are inlined there).
export function source_model(kernel, sources) {
  const has_code = (kernel.code ?? []).length > 0;
  const units = (has_code ? kernel.code : units_of_lines(kernel)).map((u, pc) => ({ ...u, pc }));
  const lines = new Map((kernel.lines ?? []).map((l) => [l.line, l]));
  const by_line = new Map();
  for (const u of units) by_line.set(u.line, [...(by_line.get(u.line) ?? []), u]);
  // The call stack of a PTX line, innermost frame first.
  const frames = (line) => {
    const l = lines.get(line);
    if (!l?.source) return [];
    const calls = l.called_at ?? [];
    return [l.source, ...calls].map((at, i) => ({ at, ...place_of(at), within: i === 0 ? (l.function ?? kernel.name) : (l.callers?.[i - 1] ?? '') }));
  };
  const own = new Map(),
    inlined = new Map();
  for (const u of units)
    frames(u.line).forEach((f, i) => {
      const to = i === 0 ? own : inlined;
      to.set(f.at, [...(to.get(f.at) ?? []), u]);
    });
  const source_of = (file) => (sources ?? []).find((s) => s.file === file);
  const ptx_source = lines.size > 0 && [...lines.values()].some((l) => l.text) && kernel.file ? source_of(kernel.file) : undefined;
  const ptx = rows_near(ptx_source, [...lines.values()].map((l) => ({ line: l.line, text: l.text ?? '' })), 12, (text) => /^\s*(\.loc\b.*|\.pragma.*|)$/.test(text), (text) => text.trim() === '}').map(
    (r) => r && { key: 'p' + r.line, number: r.line, text: r.text.replace(/^\s+/, '  ').replaceAll('\t', ' '), units: by_line.get(r.line) ?? [] },
  );
  const places = [...new Set([...own.keys(), ...inlined.keys()])].map(place_of);
  const text_at = new Map([...lines.values()].filter((l) => l.source_text).map((l) => [l.source, l.source_text]));
  const weight = (file) => sum([...own].filter(([at]) => place_of(at).file === file).flatMap(([, some]) => some), waited);
  const files = [...new Set(places.map((p) => p.file))]
    .map((file) => ({
      file,
      weight: weight(file),
      found: source_of(file) !== undefined,
      rows: rows_near(source_of(file), places.filter((p) => p.file === file).map((p) => ({ line: p.line, text: text_at.get(`${file}:${p.line}`) ?? '' })), 25, () => false).map((r) => {
        const at = r && `${file}:${r.line}`;
        return r && { key: 'c' + at, number: r.line, text: r.text, units: own.get(at) ?? [], inlined: inlined.get(at) ?? [] };
      }),
    }))
    .sort((a, b) => b.weight - a.weight);
  const machine = has_code ? units.map((u) => ({ key: 'm' + u.pc, number: u.pc, text: u.text, units: [u] })) : [];
  return { measures: measures(kernel, units), machine, ptx, files, frames };
}

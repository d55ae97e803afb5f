// SPDX-License-Identifier: MIT
// What a kernel has by line and by machine instruction. In a run with many launches it is stored as columns in a text (compact_lines.cpp), which is
// read when it is asked for, so that a page of many launches opens fast.

function put(object, path, value) {
  let at = object;
  const keys = path.split('.');
  for (const key of keys.slice(0, -1)) at = at[key] ??= {};
  at[keys[keys.length - 1]] = value;
}

// A column is a list of values, a list of indices and one of their values, or 0.
function objects(shared, names, columns) {
  const all = shared.map((own) => ({ ...own }));
  names.forEach((path, k) => {
    const column = columns[k] ?? 0,
      full = Array.isArray(column) && !Array.isArray(column[0]);
    all.forEach((object, i) => put(object, path, full ? column[i] : 0));
    if (!full && column !== 0) column[0].forEach((i, at) => put(all[i], path, column[1][at]));
  });
  return all;
}

const of_memory = ['requested_bytes', 'l1_requests', 'l1_sectors', 'l1_hits', 'l2_sectors', 'l2_hits', 'dram_sectors', 'shared_passes', 'constant_reads'];

function add_to(sums, counts) {
  for (const [name, count] of Object.entries(counts ?? {})) sums[name] = (sums[name] ?? 0) + count;
}

// The counts of lines are the sums over their instructions.
function sum_up(lines, code) {
  const by_line = new Map(lines.map((line) => [line.line, line]));
  for (const line of lines) Object.assign(line, { executed: 0, thread_executed: 0, joules: 0, warp_states: {} });
  for (const i of code) {
    const line = by_line.get(i.line);
    if (!line) continue;
    for (const name of ['executed', 'thread_executed', 'joules']) line[name] += i[name] ?? 0;
    add_to(line.warp_states, i.warp_states);
    if (!(i.accesses > 0)) continue;
    line.memory ??= Object.fromEntries(['accesses', ...of_memory].map((name) => [name, 0]));
    line.memory.accesses += i.accesses;
    for (const name of of_memory) line.memory[name] += i.memory?.[name] ?? 0;
  }
}

/// Gives the kernels of a file the members `lines` and `code`, which are read when they are first used.
export function attach_details(file) {
  for (const kernel of file.metrics.kernels) {
    if (typeof kernel.counts !== 'string') continue;
    let known = null;
    const read = () => {
      if (known !== null) return known;
      const program = JSON.parse(file.programs[kernel.program]),
        own = JSON.parse(kernel.counts).map((list, i) => list.map((column, k) => (column === -1 ? program.counts[i][k] : column)));
      const { lines, code } = program.shared;
      known = { lines: objects(lines, file.columns.lines, own[0]), code: objects(code, file.columns.code, own[1]) };
      if (known.code.length > 0) sum_up(known.lines, known.code);
      for (const line of known.lines) if (!(line.memory?.accesses > 0)) delete line.memory;
      return known;
    };
    const by_line = () => Object.fromEntries(read().lines.map((line) => [line.line, line.joules ?? 0]));
    if (kernel.energy) Object.defineProperty(kernel.energy, 'by_line', { get: by_line });
    for (const name of ['lines', 'code']) Object.defineProperty(kernel, name, { get: () => read()[name] });
  }
}

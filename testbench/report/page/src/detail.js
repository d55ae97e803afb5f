// SPDX-License-Identifier: MIT
// What the page shows of one kernel alone. In a run with many launches it is stored in texts (compact_lines.cpp), which are read when they are asked
// for, so that a page of many launches opens fast: counts by line and by machine instruction as columns, objects without the names of their members.

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

function unpacked(value, shapes) {
  if (!Array.isArray(value)) return value;
  const names = shapes[value[0]],
    values = value.slice(1).map((v) => unpacked(v, shapes));
  return names === undefined ? values : Object.fromEntries(names.map((name, i) => [name, values[i]]));
}

// Gives an object members that are read together when one of them is first used.
function read_later(object, names, read) {
  let known = null;
  for (const name of names) Object.defineProperty(object, name, { get: () => (known ??= read())[name] });
}

function counts_of(kernel, file) {
  const program = JSON.parse(file.programs[kernel.program]),
    own = JSON.parse(kernel.counts).map((list, i) => list.map((column, k) => (column === -1 ? program.counts[i][k] : column)));
  const lines = objects(program.shared.lines, file.columns.lines, own[0]),
    code = objects(program.shared.code, file.columns.code, own[1]);
  if (code.length > 0) sum_up(lines, code);
  for (const line of lines) if (!(line.memory?.accesses > 0)) delete line.memory;
  return { lines, code };
}

function details_of(kernel, file) {
  const read = unpacked(JSON.parse(kernel.details), file.details.shapes);
  const by_line = () => Object.fromEntries(kernel.lines.map((line) => [line.line, line.joules ?? 0]));
  if (read.energy) read_later(read.energy, ['by_line'], () => ({ by_line: by_line() }));
  return read;
}

/// Gives the kernels of a file what the rules say (`judged`), and the members that are stored as texts.
export function attach_details(file) {
  file.metrics.kernels.forEach((kernel, i) => {
    if (file.judged) kernel.judged = file.judged[i];
    if (typeof kernel.counts === 'string') read_later(kernel, ['lines', 'code'], () => counts_of(kernel, file));
    if (typeof kernel.details === 'string') read_later(kernel, file.details.names, () => details_of(kernel, file));
  });
}

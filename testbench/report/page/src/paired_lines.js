// SPDX-License-Identifier: MIT
// Which lines of two versions of a source are the same.

const most_cells = 4e6; // of the table: lines of one times lines of the other
const key = (line) => (line.text === '' ? line.place : line.text.trim().replace(/\s+/g, ' '));

function by_number(a, b) {
  const of_b = new Map(b.map((line) => [line.place, line]));
  const of_a = new Set(a.map((line) => line.place));
  return [...a.map((line) => [line, of_b.get(line.place)]), ...b.filter((line) => !of_a.has(line.place)).map((line) => [undefined, line])];
}

/// Pairs of lines, one of `a` and one of `b`; without a partner, the other is undefined. Lines of the same text are
/// the same, in their order, whatever their numbers: the longest common subsequence. Where a text is not known, or
/// there are too many lines, those of the same number are. A line has `place`, with its number, and `text`.
export function paired_lines(a, b) {
  const [x, y] = [a.map(key), b.map(key)];
  let first = 0;
  while (first < x.length && first < y.length && x[first] === y[first]) ++first;
  let last = 0;
  while (last < x.length - first && last < y.length - first && x[x.length - 1 - last] === y[y.length - 1 - last]) ++last;
  const [rows, columns] = [x.length - first - last, y.length - first - last];
  if (rows * columns > most_cells) return by_number(a, b);
  // common[i, j]: length of the longest common subsequence from the i-th and j-th of the lines between.
  const width = columns + 1;
  const common = new Uint16Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; --i)
    for (let j = columns - 1; j >= 0; --j)
      common[i * width + j] = x[first + i] === y[first + j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
  const pairs = a.slice(0, first).map((line, k) => [line, b[k]]);
  for (let i = 0, j = 0; i < rows || j < columns; ) {
    if (i < rows && j < columns && x[first + i] === y[first + j]) pairs.push([a[first + i++], b[first + j++]]);
    else if (j === columns || (i < rows && common[(i + 1) * width + j] >= common[i * width + j + 1])) pairs.push([a[first + i++], undefined]);
    else pairs.push([undefined, b[first + j++]]);
  }
  for (let k = last; k > 0; --k) pairs.push([a[a.length - k], b[b.length - k]]);
  return pairs;
}

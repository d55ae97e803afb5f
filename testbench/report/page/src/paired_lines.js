// SPDX-License-Identifier: MIT
// Which lines of two versions of a source are the same.

const most_cells = 4e6; // of the table: lines of one times lines of the other
const most_compared = 1e4; // the same of lines between two that are equal, whose words are compared
const least_alike = 0.5; // of the words, in an edited line
const key = (line) => (line.text === '' ? line.place : line.text.trim().replace(/\s+/g, ' '));

function by_number(a, b) {
  const of_b = new Map(b.map((line) => [line.place, line]));
  const of_a = new Set(a.map((line) => line.place));
  return [...a.map((line) => [line, of_b.get(line.place)]), ...b.filter((line) => !of_a.has(line.place)).map((line) => [undefined, line])];
}

// How much of the longer line's words and signs the other has, too: 0 to 1.
function likeness(a, b) {
  if (a.text === '' || b.text === '') return 0;
  const [x, y] = [a, b].map((line) => line.text.match(/\w+|[^\s\w]/g) ?? []);
  const left = [...y];
  const shared = x.filter((word) => left.includes(word) && left.splice(left.indexOf(word), 1)).length;
  return shared / Math.max(1, x.length, y.length);
}

// Lines between two that are the same in both versions. If there are as many, each was edited; otherwise those most
// alike were, in their order.
function edited_lines(a, b) {
  if (a.length === b.length && [...a, ...b].every((line) => line.text !== '')) return a.map((line, k) => [line, b[k]]);
  if (a.length * b.length > most_compared) return [...a.map((line) => [line, undefined]), ...b.map((line) => [undefined, line])];
  const alike = a.map((x) => b.map((y) => likeness(x, y))).map((row) => row.map((v) => (v < least_alike ? 0 : v)));
  const best = Array.from({ length: a.length + 1 }, () => new Float64Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; --i)
    for (let j = b.length - 1; j >= 0; --j) best[i][j] = Math.max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + alike[i][j]);
  const pairs = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && alike[i][j] > 0 && best[i][j] === best[i + 1][j + 1] + alike[i][j]) pairs.push([a[i++], b[j++]]);
    else if (j === b.length || (i < a.length && best[i + 1][j] >= best[i][j + 1])) pairs.push([a[i++], undefined]);
    else pairs.push([undefined, b[j++]]);
  }
  return pairs;
}

function with_edited_lines(pairs) {
  const all = [];
  let [gone, come] = [[], []];
  const end = () => {
    all.push(...edited_lines(gone, come));
    [gone, come] = [[], []];
  };
  for (const [x, y] of pairs) {
    if (x && y) {
      end();
      all.push([x, y]);
    } else if (x) gone.push(x);
    else come.push(y);
  }
  end();
  return all;
}

/// Pairs of lines, one of `a` and one of `b`; without a partner, the other is undefined. Lines of the same text are
/// the same, in their order, whatever their numbers: the longest common subsequence. Between two of these an edited
/// line is paired with what it became. Where a text is not known, or there are too many lines, those of the same number
/// are the same. A line has `place`, with its number, and `text`.
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
  return with_edited_lines(pairs);
}

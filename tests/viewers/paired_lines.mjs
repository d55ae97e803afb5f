// SPDX-License-Identifier: MIT
// Which lines of two versions of a source the report takes for the same: node paired_lines.mjs.
import assert from 'node:assert/strict'
import { paired_lines } from '../../testbench/report/page/src/paired_lines.js'

// A letter is a line's text, _ one whose text is not known.
const lines = (letters, from = 1, file = 'k.cu') => [...letters].map((c, k) => ({ place: `${file}:${from + k}`, text: c === '_' ? '' : `  ${c};` }))
const paired = (a, b) => paired_lines(a, b).map(([x, y]) => `${x?.place ?? ''}-${y?.place ?? ''}`.replaceAll('k.cu:', ''))

// The same source; one that begins elsewhere; a line more, a line less.
assert.deepEqual(paired(lines('abc'), lines('abc')), ['1-1', '2-2', '3-3'])
assert.deepEqual(paired(lines('abc'), lines('abc', 11)), ['1-11', '2-12', '3-13'])
assert.deepEqual(paired(lines('abcd'), lines('axbcd')), ['1-1', '-2', '2-3', '3-4', '4-5'])
assert.deepEqual(paired(lines('axbcd'), lines('abcd')), ['1-1', '2-', '3-2', '4-3', '5-4'])
// An edited line is paired by its place between equal ones. If there is a line more, or less, the one most alike is.
assert.deepEqual(paired(lines('abc'), lines('axc')), ['1-1', '2-2', '3-3'])
assert.deepEqual(paired(lines('abcd'), lines('axyd')), ['1-1', '2-2', '3-3', '4-4'])
assert.deepEqual(paired(lines('abc'), lines('xyz')), ['1-1', '2-2', '3-3'])
const texts = (...all) => all.map((text, k) => ({ place: `k.cu:${k + 1}`, text }))
assert.deepEqual(paired(texts('{', 'sum += in[i * n + k];', '}'), texts('{', 'const int at = k * n;', 'sum += in[at + i];', '}')), ['1-1', '-2', '2-3', '3-4'])
assert.deepEqual(paired(texts('{', 'x = y;', 'out[i] = a;', '}'), texts('{', 'out[i] = b;', '}')), ['1-1', '2-', '3-2', '4-3'])
assert.deepEqual(paired(texts('{', 'x = y;', '}'), texts('{', '__syncthreads();', 'return;', '}')), ['1-1', '2-', '-2', '-3', '3-4'])
// Equal texts keep their order; blanks do not count.
assert.deepEqual(paired(lines('a}b}c'), lines('}b}')), ['1-', '2-1', '3-2', '4-3', '5-'])
assert.deepEqual(paired([{ place: 'k.cu:1', text: 'a  = b;' }], [{ place: 'k.cu:7', text: '\ta = b;' }]), ['1-7'])
// Without a text the number counts.
assert.deepEqual(paired(lines('__'), lines('_', 2)), ['1-', '2-2'])
assert.deepEqual(paired([], lines('a')), ['-1'])
// Too many lines for the table: by number.
const many = Array.from({ length: 3000 }, (_, k) => ({ place: `k.cu:${k}`, text: `a${k}` }))
const moved = many.map((line) => ({ ...line, text: `b${line.text}` }))
assert.ok(paired_lines(many, moved).every(([x, y]) => x.place === y.place))
console.log('passed')

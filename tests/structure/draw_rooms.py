#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/pictures/rooms.svg: the rooms of rooms.txt, what they hold, and arrows for the includes that the sources contain. Arrows that follow from
others are left out, and so is every single arrow from testbench/ to model/ and tlm/. `draw_rooms.py`, or `--check`: is the picture up to date?"""
import sys
import textwrap
from xml.sax.saxutils import escape

import check_rooms

FILE = check_rooms.ROOT / 'docs/pictures/rooms.svg'
WIDTH, HEIGHT, GAP = 132, 89, 20  # of a column and of a row; between rows
PER_COLUMN = 20                   # letters that a line of text has in a box of one column

# First and last column, row from the ground up, title, what it holds, rooms. A room in no box, or in two, is a fault.
BOXES = (
    (0, 3, 0, 'config, cci, isa, hash', 'parameters, INI files, CCI; machine instructions and opcodes; hashes', ('model/config', 'model/cci', 'model/isa', 'model/hash')),
    (0, 0, 1, 'frontend/ptx', 'PTX to machine code', ('model/frontend/ptx',)),
    (1, 1, 1, 'frontend/sass_trace', 'recorded kernels', ('model/frontend/sass_trace',)),
    (2, 2, 1, 'occupancy', 'blocks that fit an SM; its resource account', ('model/occupancy',)),
    (3, 3, 1, 'simt', '32-lane execution', ('model/simt',)),
    (4, 4, 1, 'tlm', 'clocks, transactions', ('tlm',)),
    (3, 4, 2, 'memory', 'caches, crossbar, DRAM', ('model/memory',)),
    (3, 4, 3, 'sub_partition', 'fetch, issue, execution units', ('model/sub_partition',)),
    (2, 4, 4, 'sm', 'resource manager, barrier unit, load/store unit, shared memory', ('model/sm',)),
    (2, 4, 5, 'functional, sanitize', 'launches executed without timing; checks', ('model/functional', 'model/sanitize')),
    (0, 4, 6, 'gpu', 'the whole GPU; Compute Work Distributor; host interface and driver', ('model/gpu',)),
    (0, 3, 7, 'energy', 'joules from the units\' counters', ('model/energy',)),
    (0, 1, 8, 'metrics', 'the profiler\'s metrics from the units\' counters', ('model/metrics',)),
    (2, 3, 8, 'observe', 'waveforms, pipeline views, timelines', ('model/observe',)),
    (4, 4, 7, 'heddle.h', 'what a program with a GPU includes', ('model',)),
    (5, 7, 0, 'files', 'reading and writing files', ('testbench/files',)),
    (5, 7, 1, 'text', 'parsing and formatting of text', ('testbench/text',)),
    (5, 5, 2, 'job', 'job files', ('testbench/job',)),
    (6, 7, 2, 'options', 'command lines', ('testbench/options',)),
    (5, 5, 3, 'sweep', 'points and results', ('testbench/sweep/plan', 'testbench/sweep/store')),
    (5, 7, 4, 'report', 'the verdict and the HTML page', ('testbench/report', 'testbench/advice')),
    (5, 7, 5, 'run', 'one simulation from job to files', ('testbench/run', 'testbench/checkpoint', 'testbench/record', 'testbench/warm', 'testbench/live', 'testbench/sanitize', 'testbench/views')),
    (5, 5, 6, 'sweep', 'running points', ('testbench/sweep/engine', 'testbench/sweep')),
    (6, 7, 6, 'exec', 'the simulator behind a CUDA program', ('testbench/exec', 'testbench/exec/server')),
    (5, 5, 7, 'correlate, whatif', 'real chips; changes of the machine', ('testbench/correlate', 'testbench/energy', 'testbench/sampling', 'testbench/sampling/compare', 'testbench/sampling/launches', 'testbench/sampling/strata', 'testbench/whatif')),
    (5, 6, 8, 'program', 'the commands of heddle', ('testbench/program',)),
    (7, 7, 8, 'cuda', 'CUDA\'s libraries', ('testbench/cuda',)),
    (5, 7, 9, 'cosim, parts, standards, workloads', 'Heddle with other IP and standards; single units; kernels and their data', ('testbench/cosim', 'testbench/parts', 'testbench/standards', 'testbench/workloads')),
)
ROWS = 1 + max(box[2] for box in BOXES)
FIRST_OF_TESTBENCH = 5


def box_of(room):
    """The box of the longest folder that is the room or contains it."""
    found = [(len(top), i) for i, box in enumerate(BOXES) for top in box[5] if room == top or room.startswith(top + '/')]
    return max(found)[1] if found else None


def edges():
    """Pairs of boxes, without those that follow from others and those between the two halves."""
    links = {}
    for (a, b) in check_rooms.survey()[1]:
        upper, lower = box_of(a), box_of(b)
        if None not in (upper, lower) and upper != lower and half(upper) == half(lower):
            links.setdefault(upper, set()).add(lower)

    def below(i):
        return set().union(*({j} | below(j) for j in links.get(i, ())))

    return sorted((i, j) for i in links for j in links[i] if not any(j in below(k) for k in links[i]))


def half(i):
    return BOXES[i][0] >= FIRST_OF_TESTBENCH


def frame(i):
    first, last, row = BOXES[i][:3]
    left = 10 + first * WIDTH + 24 * half(i)
    return left, 26 + (ROWS - 1 - row) * (HEIGHT + GAP), (last - first + 1) * WIDTH - 8


def line(x, y, text, how=''):
    return f'<text x="{x}" y="{y}"{how}>{escape(text)}</text>'


def box(i, rooms):
    left, top, width = frame(i)
    columns = BOXES[i][1] - BOXES[i][0] + 1
    names = [r.split('/')[-1] for r in rooms if box_of(r) == i and (r not in BOXES[i][5] or len(BOXES[i][5]) > 1)]
    inner = ', '.join(dict.fromkeys(names))  # each name once
    out = [f'<rect x="{left}" y="{top}" width="{width}" height="{HEIGHT}" rx="5" fill="{"#fdf1dc" if half(i) else "#e3edfa"}"/>',
           line(left + 7, top + 14, BOXES[i][3], ' font-weight="bold"')]
    told = textwrap.wrap(BOXES[i][4], PER_COLUMN * columns)
    listed = textwrap.wrap(inner, PER_COLUMN * columns + 1) if BOXES[i][3] != inner else []
    for k, text in enumerate(told):
        out.append(line(left + 7, top + 28 + 11 * k, text))
    for k, text in enumerate(listed):
        out.append(line(left + 7, top + 28 + 11 * (len(told) + k), text, ' font-style="italic" fill="#4a5a70"'))
    if len(told) + len(listed) > 6:
        raise SystemExit(f'draw_rooms: the text of {BOXES[i][3]} does not fit its box')
    return out


def arrow(i, j):
    """Straight down, where both boxes have a column in common."""
    upper, lower = BOXES[i], BOXES[j]
    first, last = max(upper[0], lower[0]), min(upper[1], lower[1])
    above = [b for b in BOXES if half(i) == (b[0] >= FIRST_OF_TESTBENCH) and lower[2] < b[2] < upper[2]]
    for column in range(first, last + 1):
        if all(not b[0] <= column <= b[1] for b in above):
            break
    else:
        raise SystemExit(f'draw_rooms: no column is free for the arrow from {upper[3]} to {lower[3]}: move a box')
    x = 10 + column * WIDTH + 24 * half(i) + WIDTH // 2 - 4
    return f'<path d="M{x} {frame(i)[1] + HEIGHT} V{frame(j)[1] - 2}" marker-end="url(#to)"/>'


def picture():
    rooms = check_rooms.order()[0]
    missing = [r for r in rooms if box_of(r) is None] + [t for b in BOXES for t in b[5] if not any(r == t or r.startswith(t + '/') for r in rooms)]
    if missing:
        raise SystemExit(f'draw_rooms: boxes and rooms.txt differ in {", ".join(missing)}')
    links = edges()
    wide, high = 20 + 8 * WIDTH + 24, 26 + ROWS * (HEIGHT + GAP) - 6
    middle = 10 + FIRST_OF_TESTBENCH * WIDTH
    out = ['<!-- SPDX-License-Identifier: MIT; made by tests/structure/draw_rooms.py -->',
           f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" font-family="sans-serif" font-size="10.5">',
           '<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0 L8 4 L0 8 z" fill="#808890"/></marker></defs>',
           '<g fill="#808890" font-size="12" font-weight="bold">', line(10, 16, 'model/ and tlm/'), line(middle + 24, 16, 'testbench/'), '</g>',
           '<g stroke="#808890" stroke-width="1.5" fill="none">']
    out += [arrow(i, j) for i, j in links]
    out += [f'<path d="M{middle + 22} {26 + HEIGHT // 2} H{middle - 4}" marker-end="url(#to)"/>', '</g>', '<g fill="#1c2430">']
    for i in range(len(BOXES)):
        out += box(i, rooms)
    return '\n'.join(out + ['</g>', '</svg>', ''])


def main():
    drawn = picture()
    if sys.argv[1:] != ['--check']:
        FILE.write_text(drawn)
    elif not FILE.is_file() or FILE.read_text() != drawn:
        print('docs/pictures/rooms.svg differs from rooms.txt or the includes: tests/structure/draw_rooms.py draws it anew')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws metrics of a sweep's CSV as an SVG. usage: plot.py CSV X Y[,Y...] BY OUTPUT.svg [COLUMN=VALUE...]: a line for each Y and each
value of the column BY, or bars where X are no numbers; of the rows whose columns have these values. A Y that ends in '/max' is drawn in
parts of that line's largest value, in '/1' as the reciprocal in parts of the largest, in '/COLUMN' as how many times smaller it is than
with the first value of COLUMN, all other axes being the same."""
import csv
import itertools
import os
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 860, 430, 70, 50, 30
COLOURS = ["#4c78a8", "#e45756", "#54a24b", "#f58518", "#72b7b2", "#b279a2", "#9d755d", "#bab0ac"]
DASHES = ["none", "6 3", "2 2", "8 2 2 2"]


def shown(name):
    """A job's folder or file says more than job.json."""
    if name.endswith("/job.json"):
        name = os.path.basename(os.path.dirname(name))
    return name.rsplit(".json", 1)[0]


def said(y):
    column, _, scale = y.partition("/")
    if column == "cycles":
        column = "cycles of the whole job"
    return {"": column, "max": column + ", largest = 1", "1": "1 / " + column + ", best = 1"}.get(scale, "1 / " + column + ", 1 with the first " + scale)


def axes(rows):
    """The columns of the axes: behind those that every sweep has, up to the first metric."""
    metric = lambda n: n == "cycles" or n.split(".")[0] in ("kernels", "sms", "context_switches", "preempt_requests", "intervals")
    return list(itertools.takewhile(lambda n: not metric(n), list(rows[0])[4:]))


def speedup(rows, column, of):
    """The value with the first one of `of`, by all other axes, over each value."""
    others = [a for a in axes(rows) if a != of]
    first, start = rows[0][of], {}
    for row in rows:
        if row[of] == first:
            start[tuple(row[a] for a in others)] = float(row[column])
    return lambda row: start[tuple(row[a] for a in others)] / float(row[column])


def series(rows, x, y, by, keep):
    """Points of each line, by value of the column `by`; rows without a result are left out."""
    column, _, scale = y.partition("/")
    rows = [row for row in rows if row["status"] == "done" and row[x] and row[column]]
    value_of = speedup(rows, column, scale) if scale not in ("", "1", "max") else lambda row: float(row[column])
    lines = {}
    for row in filter(keep, rows):
        value = value_of(row)
        lines.setdefault(row[by], []).append((row[x], 1 / value if scale == "1" else value))
    for points in lines.values():
        most = max(v for _, v in points)
        if scale in ("1", "max"):
            points[:] = [(a, v / most) for a, v in points]
    return lines


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def ticks(most):
    """Round numbers from 0 to the largest, some five or six."""
    step = 10.0 ** (len("%d" % most) - 2 if most >= 1 else -1)
    while most / step > 7:
        step *= 2 if most / step <= 14 else 5 if most / step <= 35 else 10
    return [step * k for k in range(int(most / step + 1e-9) + 1)]


def draw(rows, x_name, y_names, by, keep):
    drawn = []
    for k, y in enumerate(y_names):
        for points_of, points in series(rows, x_name, y, by, keep).items():
            drawn.append((shown(points_of), y, k, points))
    names = list(dict.fromkeys(name for name, _, _, _ in drawn))
    groups = list(dict.fromkeys(a for *_, points in drawn for a, _ in points))
    numbers = all(is_number(a) for a in groups)
    most_x = max(float(a) for a in groups) if numbers else len(groups)
    most_y = max(v for *_, points in drawn for _, v in points) or 1
    x = lambda a: LEFT + (WIDTH - LEFT - 20) * a / most_x
    y = lambda v: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * v / most_y
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">' % (WIDTH, HEIGHT + 20 * len(y_names)),
           '<rect width="100%" height="100%" fill="white"/>']
    for v in ticks(most_y):
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>' % (LEFT, WIDTH - 20, y(v), y(v)))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%.6g</text>' % (LEFT - 6, y(v) + 4, v))
    for at, text in [(a, "%.6g" % a) for a in ticks(most_x)] if numbers else [(k + 0.5, shown(a)) for k, a in enumerate(groups)]:
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (x(at), HEIGHT - BOTTOM + 18, text))
    out.append('<text x="%d" y="%d" text-anchor="middle">%s</text>' % ((LEFT + WIDTH) // 2, HEIGHT - 10, x_name))
    step = min(130, (WIDTH - LEFT - 20) // max(1, len(names)))
    for i, name in enumerate(names):
        out.append('<text x="%d" y="18" fill="%s">%s</text>' % (LEFT + step * i, COLOURS[i % 8], name))
    for k, name in enumerate(y_names):
        line = HEIGHT + 20 * k + 4
        out.append('<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="black" stroke-dasharray="%s"/>' % (LEFT, LEFT + 40, line, line, DASHES[k % 4]))
        out.append('<text x="%d" y="%d">%s</text>' % (LEFT + 50, line + 4, said(name)))
    for n, (name, _, k, points) in enumerate(drawn):
        colour = COLOURS[names.index(name) % 8]
        if numbers:
            path = " ".join("%.1f,%.1f" % (x(a), y(v)) for a, v in sorted((float(a), v) for a, v in points))
            out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.6" stroke-dasharray="%s"/>' % (path, colour, DASHES[k % 4]))
            continue
        wide = (x(1) - x(0)) * 0.84 / len(drawn)
        for a, v in points:
            left = x(groups.index(a) + 0.08) + wide * n
            out.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>' % (left, y(v), wide, HEIGHT - BOTTOM - y(v), colour))
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    if len(sys.argv) < 6 or any("=" not in a for a in sys.argv[6:]):
        sys.exit(__doc__)
    table, x_name, y_names, by, target = sys.argv[1:6]
    wanted = [a.split("=", 1) for a in sys.argv[6:]]
    with open(table, newline="") as text:
        rows = list(csv.DictReader(text))
    with open(target, "w") as out:
        out.write(draw(rows, x_name, y_names.split(","), by, lambda row: all(row[c] == v for c, v in wanted)))


main()

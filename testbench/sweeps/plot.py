#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws metrics of a sweep's CSV as an SVG. usage: plot.py CSV X Y[,Y...] BY OUTPUT.svg: a line for each Y and each value of the column
BY; with a Y that ends in '/max' in parts of that line's largest value, in '/1' as the reciprocal in parts of the largest."""
import csv
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
    return {"": column, "max": column + ", largest = 1", "1": "1 / " + column + ", best = 1"}[scale]


def series(rows, x, y, by):
    """Points of each line, by value of the column `by`; rows without a result are left out."""
    column, _, scale = y.partition("/")
    lines = {}
    for row in rows:
        if row["status"] == "done" and row[x] and row[column]:
            value = float(row[column])
            lines.setdefault(row[by], []).append((float(row[x]), 1 / value if scale == "1" else value))
    for points in lines.values():
        points.sort()
        most = max(v for _, v in points)
        if scale:
            points[:] = [(a, v / most) for a, v in points]
    return lines


def ticks(most):
    """Round numbers from 0 to the largest, some five or six."""
    step = 10.0 ** (len("%d" % most) - 2 if most >= 1 else -1)
    while most / step > 7:
        step *= 2 if most / step <= 14 else 5 if most / step <= 35 else 10
    return [step * k for k in range(int(most / step + 1e-9) + 1)]


def draw(rows, x_name, y_names, by):
    drawn = []
    for k, y in enumerate(y_names):
        for points_of, points in series(rows, x_name, y, by).items():
            drawn.append((shown(points_of), y, k, points))
    names = list(dict.fromkeys(name for name, _, _, _ in drawn))
    most_x = max(a for *_, points in drawn for a, _ in points)
    most_y = max(v for *_, points in drawn for _, v in points) or 1
    x = lambda a: LEFT + (WIDTH - LEFT - 20) * a / most_x
    y = lambda v: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * v / most_y
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">' % (WIDTH, HEIGHT + 20 * len(y_names)),
           '<rect width="100%" height="100%" fill="white"/>']
    for v in ticks(most_y):
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>' % (LEFT, WIDTH - 20, y(v), y(v)))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%.6g</text>' % (LEFT - 6, y(v) + 4, v))
    for a in ticks(most_x):
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%.6g</text>' % (x(a), HEIGHT - BOTTOM + 18, a))
    out.append('<text x="%d" y="%d" text-anchor="middle">%s</text>' % ((LEFT + WIDTH) // 2, HEIGHT - 10, x_name))
    for i, name in enumerate(names):
        out.append('<text x="%d" y="18" fill="%s">%s</text>' % (LEFT + 130 * i, COLOURS[i % 8], name))
    for k, name in enumerate(y_names):
        line = HEIGHT + 20 * k + 4
        out.append('<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="black" stroke-dasharray="%s"/>' % (LEFT, LEFT + 40, line, line, DASHES[k % 4]))
        out.append('<text x="%d" y="%d">%s</text>' % (LEFT + 50, line + 4, said(name)))
    for name, _, k, points in drawn:
        colour = COLOURS[names.index(name) % 8]
        path = " ".join("%.1f,%.1f" % (x(a), y(v)) for a, v in points)
        out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.6" stroke-dasharray="%s"/>' % (path, colour, DASHES[k % 4]))
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    table, x_name, y_names, by, target = sys.argv[1:]
    with open(table, newline="") as text:
        rows = list(csv.DictReader(text))
    with open(target, "w") as out:
        out.write(draw(rows, x_name, y_names.split(","), by))


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/pictures/occupancy.svg: theoretical and achieved occupancy and performance over the threads of a block, as a profiler lab has
them. usage: plot.py [PROGRAM [OUTPUT.svg]]; about a minute of work."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SIZES = list(range(32, 1025, 32))
THREADS = 4 * 2048 * 6      # six waves of a full GPU
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 860, 430, 60, 50, 30, 70
THEORY, ACHIEVED, SPEED = "#4c78a8", "#e45756", "#54a24b"


def measure(program, threads, folder):
    """A latency-bound kernel (each thread walks dependent loads) in blocks of so many threads."""
    metrics = os.path.join(folder, "metrics.json")
    grid = (THREADS + threads - 1) // threads
    subprocess.run([program, "run", "--kernel", os.path.join(HERE, "walking.ptx"), "--grid", str(grid), "--block", str(threads),
                    "--arg", "buf:1048576:random:7", "--arg", "buf:%d" % (4 * grid * threads), "--arg", "u32:12", "--gpu", "gtx1080",
                    "--set", "gpu.sm_count=4", "--quiet", "--metrics", metrics], check=True)
    with open(metrics) as text:
        k = json.load(text)["kernels"][0]
    return k["theoretical_occupancy"], k["metrics"]["achieved_occupancy"], grid * threads / k["cycles"]


def curve(points, colour, x, y, label, at):
    path = " ".join("%.1f,%.1f" % (x(s), y(v)) for s, v in points)
    dots = "".join('<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>' % (x(s), y(v), colour) for s, v in points)
    return ('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.6"/>%s<text x="%d" y="18" fill="%s">%s</text>'
            % (path, colour, dots, at, colour, label))


def draw(rows):
    most = max(r[3] for r in rows)
    x = lambda s: LEFT + (WIDTH - LEFT - RIGHT) * s / 1024
    y = lambda v: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * v
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">' % (WIDTH, HEIGHT),
           '<rect width="100%" height="100%" fill="white"/>']
    for k in range(0, 11, 2):
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>' % (LEFT, WIDTH - RIGHT, y(k / 10), y(k / 10)))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%d %%</text>' % (LEFT - 6, y(k / 10) + 4, 10 * k))
        out.append('<text x="%d" y="%.1f" fill="%s">%.2f</text>' % (WIDTH - RIGHT + 6, y(k / 10) + 4, SPEED, most * k / 10))
    for s in range(128, 1025, 128):
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (x(s), HEIGHT - BOTTOM + 18, s))
    out.append('<text x="%d" y="%d" text-anchor="middle">threads per block</text>' % ((LEFT + WIDTH - RIGHT) // 2, HEIGHT - 10))
    out.append(curve([(r[0], r[1]) for r in rows], THEORY, x, y, "theoretical occupancy", LEFT))
    out.append(curve([(r[0], r[2]) for r in rows], ACHIEVED, x, y, "achieved occupancy", LEFT + 170))
    out.append(curve([(r[0], r[3] / most) for r in rows], SPEED, x, y, "threads done per cycle (right)", LEFT + 320))
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "release", "heddle")
    target = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "docs", "pictures", "occupancy.svg")
    with tempfile.TemporaryDirectory() as folder:
        rows = [(s,) + measure(program, s, folder) for s in SIZES]
    for row in rows:
        print("%5d threads: theoretical %.3f, achieved %.3f, %.3f threads a cycle" % row)
    with open(target, "w") as out:
        out.write('<!-- SPDX-License-Identifier: MIT -->\n' + draw(rows))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/pictures/latency.svg: the latency of a dependent load over the footprint, as the model has it on six GPUs, and the
pinned figures of each level as thin lines. usage: latency_plot.py [PROGRAM [OUTPUT.svg]]; some minutes of work."""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# As in memory_test.cpp: sizes in KiB and latencies in cycles of L1 and L2, latency of the memory in cycles.
PINNED = {"gtx980": (24, 82, 2048, 207, 379), "p100": (24, 82, 4096, 234, 439), "gtx1080": (24, 82, 2048, 216, 462),
          "v100": (128, 28, 6144, 193, 425), "a100": (192, 33, 40960, 206, 552), "h100": (256, 32, 51200, 280, 689)}
COLOURS = {"gtx980": "#4c78a8", "p100": "#f58518", "gtx1080": "#54a24b", "v100": "#b279a2", "a100": "#e45756", "h100": "#7f7f7f"}
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 860, 460, 60, 50, 20, 110


def chase(program, gpu, kib, folder):
    """Cycles of a dependent load in a ring over `kib` KiB."""
    lines = int(kib * 8)
    walked = lines <= 8192
    step = lines * 2 // 5 if walked else lines // 600
    while math.gcd(step, lines) != 1:
        step += 1
    timed = 512 if walked else 128
    blocks = (lines + 255) // 256
    ring = [{"buffer": "list"}, {"u32": lines}]

    def launch(kernel, grid, block, arguments):
        return {"kernel": kernel, "grid": [grid, 1, 1], "block": [block, 1, 1], "carveout": 0, "args": arguments}

    job = {"module": os.path.join(HERE, "memory.ptx"),
           "buffers": {"list": {"bytes": lines * 128}, "cycles": {"bytes": 8}},
           "launches": [launch("chain", blocks, 256, ring + [{"u32": step}]), launch("touch", blocks, 256, ring),
                        launch("chase", 1, 1, [{"buffer": "list"}, {"buffer": "cycles"},
                                               {"u32": lines // 16 + 1 if walked else 1}, {"u32": timed // 16}])],
           "outputs": [{"buffer": "cycles", "file": os.path.join(folder, "cycles.bin")}]}
    path = os.path.join(folder, "job.json")
    with open(path, "w") as out:
        json.dump(job, out)
    subprocess.run([program, "run", path, "--quiet", "--gpu", gpu, "--set", "l2.flush_at_completion=true"], check=True)
    with open(os.path.join(folder, "cycles.bin"), "rb") as result:
        return struct.unpack("<I", result.read()[:4])[0] / timed


def footprints(pinned):
    l1, _, l2, _, _ = pinned
    points = {4, 8, l1 / 2, l1 * 0.8, l1 * 0.9, l1 * 1.1, l1 * 1.3, l1 * 2, l2 * 0.5, l2 * 0.95, l2 * 2}
    at = l1 * 4
    while at < l2 * 0.3:
        points.add(at)
        at *= 2
    return sorted(points)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release/heddle")
    output = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "docs/pictures/latency.svg")
    low, high, top = math.log2(4), math.log2(131072), 750

    def x(kib):
        return LEFT + (math.log2(kib) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(cycles):
        return HEIGHT - BOTTOM - cycles / top * (HEIGHT - BOTTOM - TOP)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for exponent in range(2, 18, 2):
        kib = 2 ** exponent
        name = f"{kib} KiB" if kib < 1024 else f"{kib // 1024} MiB"
        svg.append(f'<line x1="{x(kib):.1f}" x2="{x(kib):.1f}" y1="{TOP}" y2="{y(0):.1f}" stroke="#eee"/>')
        svg.append(f'<text x="{x(kib):.1f}" y="{y(0) + 16:.1f}" text-anchor="middle">{name}</text>')
    for cycles in range(0, top + 1, 100):
        svg.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(cycles):.1f}" y2="{y(cycles):.1f}" stroke="#eee"/>')
        svg.append(f'<text x="{LEFT - 6}" y="{y(cycles) + 4:.1f}" text-anchor="end">{cycles}</text>')
    svg.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">footprint</text>')
    svg.append(f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">cycles of a dependent load</text>')
    with tempfile.TemporaryDirectory() as folder:
        for number, (gpu, pinned) in enumerate(PINNED.items()):
            l1, first, l2, second, memory = pinned
            colour = COLOURS[gpu]
            for begin, end, cycles in ((4, l1, first), (l1, l2, second), (l2, 131072, memory)):
                svg.append(f'<line x1="{x(begin):.1f}" x2="{x(end):.1f}" y1="{y(cycles):.1f}" y2="{y(cycles):.1f}" '
                           f'stroke="{colour}" stroke-opacity="0.35" stroke-width="5"/>')
            measured = [(kib, chase(program, gpu, kib, folder)) for kib in footprints(pinned)]
            path = " ".join(f"{x(kib):.1f},{y(cycles):.1f}" for kib, cycles in measured)
            svg.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
            svg += [f'<circle cx="{x(kib):.1f}" cy="{y(cycles):.1f}" r="2.5" fill="{colour}"/>' for kib, cycles in measured]
            svg.append(f'<text x="{WIDTH - RIGHT + 12}" y="{TOP + 20 + 18 * number}" fill="{colour}">{gpu}</text>')
            print(gpu, " ".join(f"{kib:g}:{cycles:.1f}" for kib, cycles in measured), flush=True)
    svg.append("</svg>")
    with open(output, "w") as out:
        out.write("\n".join(svg) + "\n")


if __name__ == "__main__":
    main()

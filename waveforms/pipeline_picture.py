#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws a few rows of a pipeline view as SVG: pipeline_picture.py FILE.kanata PICTURE.svg [first row [rows [cycles]]].

The rows are those of one thread, the first one in the file, or of all with THREADS=all in the environment."""
import html
import os
import sys

COLOURS = {"F": "#9aa0a6", "Ib": "#e8eaed", "Is": "#34a853", "Op": "#a8dab5", "Ex": "#5bb974", "Lq": "#fde293", "L1": "#fbbc04",
           "Sh": "#fbbc04", "Cc": "#fbbc04", "Ic": "#fcad70", "L2": "#f28b82", "Dr": "#ee675c", "Wb": "#4285f4"}


def read(path):
    rows, open_stages, cycle = {}, {}, 0
    with open(path, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            c = line.rstrip("\n").split("\t")
            if c[0] == "C=":
                cycle = int(c[1])
            elif c[0] == "C":
                cycle += int(c[1])
            elif c[0] == "I":
                rows[c[1]] = {"thread": c[3], "label": "", "stages": [], "producers": [], "from": cycle, "to": cycle}
            elif c[0] == "L" and c[2] == "0":
                rows[c[1]]["label"] += c[3]
            elif c[0] == "S":
                open_stages[c[1], c[2]] = cycle
            elif c[0] == "E":
                rows[c[1]]["stages"].append((int(c[2]), c[3], open_stages.pop((c[1], c[2])), cycle))
            elif c[0] == "W":
                rows[c[1]]["producers"].append(c[2])
            elif c[0] == "R":
                rows[c[1]]["to"] = cycle
    return rows


def draw(rows, cycles):
    left, cell, height = 330, 9, 20
    first = min(r["from"] for r in rows.values())
    last = min(max(r["to"] for r in rows.values()), first + cycles)
    x = lambda c: left + (min(max(c, first), last) - first) * cell
    width, total = x(last) + 10, 30 + height * len(rows) + 8
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}" viewBox="0 0 {width} {total}" '
           'font-family="monospace" font-size="11">', f'<rect width="{width}" height="{total}" fill="#ffffff"/>']
    for c in range(first, last + 1, 10):
        out.append(f'<line x1="{x(c)}" y1="22" x2="{x(c)}" y2="{total - 6}" stroke="#dadce0"/>')
        if (c - first) % 20 == 0:
            out.append(f'<text x="{x(c)}" y="16" fill="#5f6368">{c}</text>')
    place = {}
    for k, (ident, r) in enumerate(rows.items()):
        y = 26 + k * height
        place[ident] = y
        out.append(f'<text x="6" y="{y + 13}" fill="#202124">{html.escape(r["label"][:48])}</text>')
        for lane, name, begin, end in sorted(r["stages"]):
            if x(end) <= x(begin):
                continue
            box = f'x="{x(begin)}" width="{x(end) - x(begin)}"'
            if lane == 0:
                out.append(f'<rect {box} y="{y}" height="{height - 3}" fill="{COLOURS.get(name, "#ffffff")}" stroke="#ffffff"/>')
                if x(end) - x(begin) >= 7 * len(name):
                    out.append(f'<text x="{x(begin) + 2}" y="{y + 12}" fill="#202124">{name}</text>')
            else:
                out.append(f'<rect {box} y="{y + height - 6}" height="3" fill="#80868b"/>')
                if x(end) - x(begin) >= 7 * len(name) + 26:
                    out.append(f'<text x="{x(begin) + 26}" y="{y + 12}" fill="#5f6368" font-size="10">{name}</text>')
    for ident, r in rows.items():
        for p in r["producers"]:
            ends = rows[p]["to"] if p in rows else None
            issue = next((s[2] for s in r["stages"] if s[1] == "Is"), None)
            if ends is None or issue is None or issue > last:
                continue
            out.append(f'<path d="M{x(ends)} {place[p] + 14} L{x(issue) + 3} {place[ident] + 2}" stroke="#a142f4" fill="none"/>')
            out.append(f'<circle cx="{x(issue) + 3}" cy="{place[ident] + 2}" r="2.5" fill="#a142f4"/>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    rows = read(sys.argv[1])
    if os.environ.get("THREADS") != "all":
        thread = next(iter(rows.values()))["thread"]
        rows = {i: r for i, r in rows.items() if r["thread"] == thread}
    begin, count, cycles = ([int(a) for a in sys.argv[3:6]] + [0, 24, 130][len(sys.argv[3:6]):])[:3]
    chosen = dict(list(rows.items())[begin:begin + count])
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write(draw(chosen, cycles))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the launches of a list of traces with their simulated cycles: durations that `heddle sample` reads.

    durations_of.py KERNELSLIST RESULTS.csv > durations.csv

RESULTS.csv is what `heddle sample KERNELSLIST --least N` has left in its folder, where N is at least the number of
launches, so that all different ones were simulated. Its traces bear the numbers of their first launches.
"""
import csv
import os
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    launches, results = sys.argv[1:]
    with open(results, newline="") as rows:
        cycles = {os.path.basename(r["trace"]): r["kernels.0.cycles"] for r in csv.DictReader(rows)}
    with open(launches) as lines:
        traces = [name for name in lines.read().splitlines() if name.strip() and not name.startswith("Memcpy")]
    known = {}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["kernel", "duration"])
    for number, name in enumerate(traces):
        if name not in known:
            with open(os.path.join(os.path.dirname(launches), name)) as trace:
                kernel = trace.readline().split("=", 1)[1].strip()
            first = f"{number:06}.g"
            if first not in cycles:
                sys.exit(f"{results}: no cycles of launch {number}, {name}; expected those of all different launches")
            known[name] = kernel, cycles[first]
        out.writerow(known[name])


if __name__ == "__main__":
    main()

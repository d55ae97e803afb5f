#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints durations that `heddle sample` reads, of a table with a column for each kernel: its name, and below it what its launches took.

    published_durations.py TABLE.csv > durations.csv

Columns may differ in length. Such tables do not tell in which order launches of different kernels followed each other: here the first
launches of all columns come first, then the second ones, and so on. The order within a column stays.
"""
import csv
import sys


def read(path):
    """The names of the columns, and rows of (line, cells)."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as text:
            rows = csv.reader(text)
            return [name.strip() for name in next(rows, [])], [(rows.line_num, row) for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error) as failed:
        sys.exit(f"{path}: {failed}; expected a CSV table with a column for each kernel")


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    path = sys.argv[1]
    names, rows = read(path)
    if not any(names):
        sys.exit(f"{path}:1: no column has a name; expected those of kernels")
    launches = []
    for line, row in rows:
        for k, cell in enumerate(row):
            cell = cell.strip()
            if not cell:
                continue
            if k >= len(names) or not names[k]:
                sys.exit(f"{path}:{line}: got '{cell}' in column {k + 1}, which has no name")
            try:
                positive = 0 < float(cell) < float("inf")
            except ValueError:
                positive = False
            if not positive:
                sys.exit(f"{path}:{line}: got '{cell}' as a duration of '{names[k]}', expected a number above 0")
            launches.append((names[k], cell))
    if not launches:
        sys.exit(f"{path}: no launch is in it")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["kernel", "duration"])
    out.writerows(launches)


if __name__ == "__main__":
    main()

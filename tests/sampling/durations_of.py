#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the launches of a workload that was simulated whole, with their cycles and counters: a table that `heddle sample` reads.

    durations_of.py KERNELSLIST RESULTS.csv > durations.csv
    durations_of.py METRICS.json... > durations.csv

RESULTS.csv is what `heddle sample KERNELSLIST --least N --warm-up 0` has left in its folder, where N is at least the number of launches,
so that all different ones were simulated. Its traces bear the numbers of their first launches. METRICS.json are metrics of whole runs, one
after another. The counters have the names of Nsight Compute, so that `heddle sample --compare` finds them. Those of a trace are
counted in it, those of a run are in its metrics and in the rows of its machine code.
"""
import csv
import json
import os
import sys

SECTOR = 32  # bytes
COUNTERS = {
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "gld_transactions",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "gst_transactions",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum": None,
    "smsp__inst_executed_op_global_ld.sum": None,
    "smsp__inst_executed_op_global_st.sum": None,
    "smsp__inst_executed_op_local_ld.sum": None,
    "smsp__inst_executed_op_shared_ld.sum": None,
    "smsp__inst_executed_op_shared_st.sum": None,
    "smsp__sass_inst_executed_op_global_atom.sum": None,
    "smsp__inst_executed.sum": "inst_executed",
}
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"
SHAPE = ["launch__grid_size", "Block Size"]
GLOBAL_LOADS, GLOBAL_STORES, LOCAL_LOADS = list(COUNTERS)[:3]
INSTRUCTIONS = "smsp__inst_executed.sum"
# Of an opcode's first part: the counter of its instructions, and that of its sectors.
OPCODES = {
    "LDG": ("smsp__inst_executed_op_global_ld.sum", GLOBAL_LOADS), "LD": ("smsp__inst_executed_op_global_ld.sum", GLOBAL_LOADS),
    "STG": ("smsp__inst_executed_op_global_st.sum", GLOBAL_STORES), "ST": ("smsp__inst_executed_op_global_st.sum", GLOBAL_STORES),
    "LDL": ("smsp__inst_executed_op_local_ld.sum", LOCAL_LOADS),
    "LDS": ("smsp__inst_executed_op_shared_ld.sum", None), "STS": ("smsp__inst_executed_op_shared_st.sum", None),
    "ATOMG": ("smsp__sass_inst_executed_op_global_atom.sum", None), "ATOM": ("smsp__sass_inst_executed_op_global_atom.sum", None),
    "RED": ("smsp__sass_inst_executed_op_global_atom.sum", None),
}


def sectors(mask, rest):
    """Sectors of 32 bytes that a warp accesses; `rest` is what follows the number of source registers."""
    bytes_each, kind = int(rest[0]), int(rest[1])
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    if kind == 1:  # base and distance
        base, step = int(rest[2], 16), int(rest[3])
        addresses = [base + step * k for k in range(len(lanes))]
    elif kind == 2:  # base and the distance of each from the one before
        addresses = [int(rest[2], 16)]
        for k in range(len(lanes) - 1):
            addresses.append(addresses[-1] + int(rest[3 + k]))
    else:
        addresses = [int(a, 16) for a in rest[2:2 + len(lanes)]]
    return len({s for a in addresses for s in range(a // SECTOR, (a + bytes_each - 1) // SECTOR + 1)})


def count(words, counts):
    """Adds an instruction of a trace without line numbers: PC, mask, registers written, opcode, registers read, memory."""
    mask = int(words[1], 16)
    at = 3 + int(words[2])
    of = OPCODES.get(words[at].split(".")[0])
    counts[INSTRUCTIONS] += 1
    counts[THREADS] += bin(mask).count("1")
    if of is None:
        return
    counts[of[0]] += 1
    rest = words[at + 2 + int(words[at + 1]):]
    if of[1] is not None and mask:
        counts[of[1]] += sectors(mask, rest)


def read_trace(path):
    """Name of the kernel and its counters."""
    counts = dict.fromkeys([*COUNTERS, THREADS], 0)
    kernel, shape, inside = "", {}, False
    with open(path) as lines:
        for line in lines:
            if line.startswith("-"):
                key, _, value = line[1:].partition("=")
                if key.strip() == "kernel name":
                    kernel = value.strip()
                elif key.strip() in ("grid dim", "block dim"):
                    shape[key.strip()] = [int(n) for n in value.strip().strip("()").split(",")]
            elif line.startswith("#BEGIN_TB"):
                inside = True
            elif line.startswith("#END_TB"):
                inside = False
            elif inside and line[0] in "0123456789abcdef":
                count(line.split(), counts)
    counts[THREADS] /= max(1, counts[INSTRUCTIONS])
    return kernel, row_of(counts, shape["grid dim"], shape["block dim"])


def row_of(counts, grid, block):
    return {**counts, SHAPE[0]: grid[0] * grid[1] * grid[2], SHAPE[1]: "({}, {}, {})".format(*block)}


def of_traces(launches, results):
    """(Name, cycles, counters) of each launch of a list of traces."""
    with open(results, newline="") as rows:
        cycles = {os.path.basename(r["trace"]): r["kernels.0.cycles"] for r in csv.DictReader(rows)}
    with open(launches) as lines:
        traces = [name for name in lines.read().splitlines() if name.strip() and not name.startswith("Memcpy")]
    known = {}
    for number, name in enumerate(traces):
        if name not in known:
            kernel, counts = read_trace(os.path.join(os.path.dirname(launches), name))
            first = f"{number:06}.g"
            if first not in cycles:
                sys.exit(f"{results}: no cycles of launch {number}, {name}; expected those of all different launches")
            known[name] = kernel, cycles[first], counts
        yield known[name]


def of_metrics(path):
    """The same of a whole run."""
    needed = {"kernels", "name", "cycles", "grid", "block", "metrics", "warp_execution_efficiency", "code", "text", "executed", "memory",
              "l1_sectors", *COUNTERS.values()}
    with open(path) as text:  # what is not needed of a large file is left out as it is read
        run = json.load(text, object_hook=lambda o: {k: o[k] for k in o.keys() & needed})
    for kernel in run["kernels"]:
        metrics = kernel["metrics"]
        counts = {name: 0 if key is None else metrics[key] for name, key in COUNTERS.items()}
        counts[THREADS] = 32 * metrics["warp_execution_efficiency"]
        for row in kernel["code"]:
            words = row["text"].split()
            of = OPCODES.get(words[words[0].startswith("@")].split(".")[0])
            if of is None:
                continue
            counts[of[0]] += row.get("executed", 0)  # none where it never was
            if of[1] == LOCAL_LOADS:
                counts[LOCAL_LOADS] += row.get("memory", {}).get("l1_sectors", 0)
        yield kernel["name"], kernel["cycles"], row_of(counts, kernel["grid"], kernel["block"])


def main():
    files = sys.argv[1:]
    if not files or files[0] in ("-h", "--help"):
        sys.exit(__doc__)
    try:
        if all(name.endswith(".json") for name in files):
            rows = [row for name in files for row in of_metrics(name)]
        elif len(files) == 2:
            rows = list(of_traces(*files))
        else:
            sys.exit(__doc__)
    except (OSError, KeyError, ValueError) as failed:
        sys.exit(f"{', '.join(files)}: {failed!r}; expected results of heddle sample, or metrics of heddle run")
    names = list(rows[0][2]) if rows else []
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["kernel", "duration", *names])
    for kernel, cycles, counts in rows:
        out.writerow([kernel, cycles, *(counts[n] for n in names)])


if __name__ == "__main__":
    main()

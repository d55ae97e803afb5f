#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the ready GTKWave layouts of this folder: layouts.py [FOLDER]. They name signals of SM 0 of a chip with four sub-partitions of
16 warp slots; what a waveform lacks, GTKWave leaves out."""
import os
import sys

PARTITIONS = range(4)
SLOTS = range(16)
STATE, OPERATION, STEP = "^1 state.filter", "^2 operation.filter", "^3 step.filter"


def number(name, width=32):
    return ["@24", f"{name}[{width - 1}:0]"]


def mask(name, width=16):
    return ["@22", f"{name}[{width - 1}:0]"]


def bit(name, colour=4, title=None):
    return ["@28", f"[color] {colour}", f"+{{{title}}} {name}" if title else name]


def word(name, words):
    return ["@2022", words, f"{name}[7:0]"]


def curve(name, width=32, colour=3):
    return ["@88024", f"[color] {colour}", f"{name}[{width - 1}:0]", "@20000", "-", "-"]


def group(title, lines, folded=False):
    return [f"@{'c00200' if folded else '800200'}", f"-{title}"] + lines + [f"@{'1401200' if folded else '1000200'}", f"-{title}"]


def joined(lists):
    return [line for part in lists for line in part]


def states(p):
    return joined(word(f"gpu.sm0.partition{p}.warp{s}_state", STATE) for s in SLOTS)


def issue(p, width=2):
    base = f"gpu.sm0.partition{p}"
    return joined(word(f"{base}.issue{k}_operation", OPERATION) + number(f"{base}.issue{k}_warp") + number(f"{base}.issue{k}_pc")
                  for k in range(width))


def scheduler():
    lines = number("gpu.cycle", 64) + curve("gpu.sm0.resource_manager.resident_warps")
    for p in PARTITIONS:
        base = f"gpu.sm0.partition{p}"
        lines += group(f"scheduler {p}", number(f"{base}.issued") + word(f"{base}.issue0_operation", OPERATION) +
                       number(f"{base}.issue0_warp") + mask(f"{base}.warp_scheduler.eligible") + mask(f"{base}.warp_scheduler.ready") +
                       mask(f"{base}.active") + group(f"warps of {p}", states(p), p != 0), p > 1)
    return lines


def memory():
    sm = "gpu.sm0"
    lines = number("gpu.cycle", 64)
    lines += group("load/store unit", curve(f"{sm}.load_store_unit.pending") + bit(f"{sm}.load_store_unit.throttled", 1) +
                   joined(number(f"{sm}.load_store_unit.queue{p}") for p in PARTITIONS) + number(f"{sm}.shared_memory.passes"))
    lines += group("L1", curve(f"{sm}.l1.mshrs_used") + curve(f"{sm}.l1.requests_outstanding") + number(f"{sm}.l1.miss_queue"))
    for k in range(2):
        lines += group(f"L2 slice {k}", curve(f"gpu.l2_slice{k}.requests_waiting", colour=5) +
                       number(f"gpu.l2_slice{k}.misses_outstanding") + number(f"gpu.l2_slice{k}.sectors_hit", 64) +
                       number(f"gpu.l2_slice{k}.sectors_missed", 64))
        lines += group(f"DRAM channel {k}", curve(f"gpu.dram_channel{k}.requests_waiting", colour=6) +
                       mask(f"gpu.dram_channel{k}.open_banks", 32) + number(f"gpu.dram_channel{k}.row_hits", 64) +
                       number(f"gpu.dram_channel{k}.row_misses", 64))
    lines += group("warps of sub-partition 0", states(0))
    return lines


def context_switch():
    sm = "gpu.sm0"
    lines = number("gpu.cycle", 64)
    lines += group("CWD", number("gpu.cwd.grids") + number("gpu.cwd.blocks_placed", 64) + number("gpu.cwd.blocks_completed", 64) +
                   number("gpu.cwd.sm0_blocks", 64))
    lines += group("context engine", word(f"{sm}.context_engine.step", STEP) + curve(f"{sm}.context_engine.lines_in_flight") +
                   number(f"{sm}.context_engine.next_word", 64))
    lines += group("blocks", curve(f"{sm}.resource_manager.resident_blocks") + number(f"{sm}.resource_manager.free_registers") +
                   joined(number(f"{sm}.resource_manager.slot{s}_block", 64) + number(f"{sm}.resource_manager.slot{s}_warps")
                          for s in range(4)))
    lines += group("warps of sub-partition 0", states(0))
    return lines


def dual_issue():
    lines = number("gpu.cycle", 64)
    for p in PARTITIONS:
        base = f"gpu.sm0.partition{p}"
        units = joined(bit(f"{base}.{u}.busy", title=f"{u} busy") for u in ("fp32", "int", "sfu", "ldst", "branch"))
        lines += group(f"scheduler {p}", curve(f"{base}.issued", colour=2) + issue(p) + number(f"{base}.register_file.bank_conflicts") +
                       units + group(f"warps of {p}", states(p), True), p > 1)
    return lines


def power():
    sm = "gpu.sm0.power"
    lines = number("gpu.cycle", 64)
    lines += group("chip, mW", joined(curve(f"gpu.power.{name}_mw", colour=2) for name in ("chip", "interconnect", "l2", "dram")))
    lines += group("SM 0, mW", curve(f"{sm}.sm_mw", colour=5) + joined(
        curve(f"{sm}.{unit}_mw") for unit in ("fp32", "int", "ldst", "registers", "shared_memory", "l1")))
    lines += group("warps of sub-partition 0", states(0))
    return lines


def clusters():
    """Of the kernels for Hopper: what TMA, network between SMs, barriers and tensor units do, and what warps wait for."""
    lines = number("gpu.cycle", 64)
    for sm in ("gpu.sm0", "gpu.sm1"):
        lines += group(f"{sm[4:]}: TMA, network, barriers", curve(f"{sm}.tma.requests_in_flight") + number(f"{sm}.tma.queued") +
                       curve(f"{sm}.cluster_port.requests", 64, 5) + number(f"{sm}.cluster_port.served", 64) +
                       number(f"{sm}.cluster_port.barriers_passed", 64) + mask(f"{sm}.barrier_unit.cluster0_waiting", 64), sm != "gpu.sm0")
    base = "gpu.sm0.partition0"
    lines += group("sub-partition 0", word(f"{base}.issue0_operation", OPERATION) + number(f"{base}.issue0_warp") +
                   bit(f"{base}.tensor.busy", 1, "tensor busy") + joined(word(f"{base}.warp{s}_state", STATE) for s in range(3)))
    lines += group("sub-partition 1", word("gpu.sm0.partition1.issue0_operation", OPERATION) +
                   bit("gpu.sm0.partition1.tensor.busy", 1, "tensor busy") +
                   joined(word(f"gpu.sm0.partition1.warp{s}_state", STATE) for s in range(3)))
    return lines


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    # With the zoom that each question wants: a picosecond a pixel is GTKWave's own, this many times twice.
    for name, lines, zoom in (("scheduler", scheduler(), 16), ("memory", memory(), 18), ("context_switch", context_switch(), 22),
                              ("dual_issue", dual_issue(), 15), ("power", power(), 21), ("clusters", clusters(), 17)):
        # With its own name in it, GTKWave finds the filters beside the file, wherever it is started.
        head = [f'[savefile] "{name}.gtkw"', f"*-{zoom}.000000" + 27 * " -1", "[size] 1600 1000", "[pos] -1 -1", "[sst_width] 1",
                "[signals_width] 330", "[sst_expanded] 0"]
        with open(os.path.join(folder, name + ".gtkw"), "w", encoding="utf-8") as out:
            out.write("\n".join(head + lines) + "\n")


if __name__ == "__main__":
    main()

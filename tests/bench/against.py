#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU seconds of whole runs of two builds of heddle, in turn, so that what else the machine does disturbs both: the least of RUNS runs each.

against.py OLD_HEDDLE NEW_HEDDLE [RUNS]        (RUNS: 3 if left out)
"""
import os
import subprocess
import sys

WORKLOADS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testbench", "workloads")


def kernel(workload, entry, grid, block, *arguments):
    words = ["run", "--quiet", "--kernel", os.path.join(WORKLOADS, workload, workload + ".ptx:" + entry), "--grid", grid, "--block", block]
    for a in arguments:
        words += ["--arg", a]
    return words


RUNS = {
    "sgemm": kernel("sgemm", "sgemm", "12,24", "16,16", "s32:384", "buf:589824:iotaf", "buf:589824:iotaf", "buf:589824"),
    "streaming": kernel("vector_add", "vector_add", "1280", "256", "buf:1310720:iotaf", "buf:1310720:iotaf", "buf:1310720", "s32:327680"),
    "divergent": kernel("divergent", "divergent", "320", "128", "buf:163840:random:9", "buf:163840", "s32:40960"),
}


def cpu_seconds(program, arguments):
    process = subprocess.Popen([program] + arguments, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"against.py: {program} {' '.join(arguments)} failed")
    return usage.ru_utime + usage.ru_stime


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    programs, turns = sys.argv[1:3], int(sys.argv[3]) if len(sys.argv) == 4 else 3
    print(f"{'kernel':10} {'gpu':8} {'old s':>8} {'new s':>8} {'times as fast':>14}")
    for gpu in ("gtx1080", "v100"):
        for name, arguments in RUNS.items():
            least = [float("inf")] * 2
            for _ in range(turns):
                for n, program in enumerate(programs):
                    least[n] = min(least[n], cpu_seconds(program, arguments + ["--gpu", gpu]))
            print(f"{name:10} {gpu:8} {least[0]:8.3f} {least[1]:8.3f} {least[0] / least[1]:14.2f}", flush=True)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the tables of docs/model/preemption_cost.md: what switching a whole GPU out and in takes, and how long an urgent launch waits.
usage: tables.py [PROGRAM [cost|waiting]]; some minutes of work."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORKLOADS = os.path.join(ROOT, "testbench", "workloads")
# Published context switch times: whole GPU, one direction, microseconds; docs/model/preemption_cost.md has the sources.
PUBLISHED = {"p100": "25", "v100": "32", "a100": "40", "h100": "19"}
MODES = ["none", "drain", "switch", "flush", "auto"]


def run(program, job, gpu, settings, folder):
    path, metrics = os.path.join(folder, "job.json"), os.path.join(folder, "metrics.json")
    with open(path, "w") as out:
        json.dump(job, out)
    command = [program, "run", path, "--quiet", "--gpu", gpu, "--metrics", metrics]
    for setting in settings:
        command += ["--set", setting]
    subprocess.run(command, check=True)
    with open(metrics) as text:
        return json.load(text)


def cost(program, folder):
    print("| GPU | SMs | context of an SM | of the GPU | bandwidth | bytes / bandwidth | quiet after | saved after | restored in | published |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for gpu in ("p100", "v100", "a100", "h100"):
        with open(os.path.join(HERE, "full_context.json")) as text:
            job = json.load(text)
        job["module"] = os.path.join(HERE, "full_context.ptx")
        job["outputs"] = []
        m = run(program, job, gpu, [], folder)
        config, switches = m["gpu"]["config"], m["context_switches"]
        mhz = config["gpu.core_clock_mhz"]
        of_sm = {}
        for s in switches:
            of_sm[s["sm"]] = of_sm.get(s["sm"], 0) + s["bytes_saved"]
        bandwidth = config["memory.channels"] * config["dram.bytes_per_cycle"] * config["dram.clock_mhz"] * 1e-3   # GB/s
        total = sum(of_sm.values())
        asked = min(s["request_cycle"] for s in switches)
        quiet = max(s["quiesced_cycle"] for s in switches) - asked
        saved = max(s["saved_cycle"] for s in switches) - asked
        back = max(s["resumed_cycle"] for s in switches) - min(s["restore_cycle"] for s in switches)
        print("| %s | %d | %d KiB | %.1f MiB | %.0f GB/s | %.1f us | %.1f us | %.1f us | %.1f us | %s us |" % (
            gpu, len(of_sm), max(of_sm.values()) // 1024, total / 2**20, bandwidth, total / bandwidth * 1e-3, quiet / mhz, saved / mhz,
            back / mhz, PUBLISHED[gpu]))


def workload(name):
    folder = os.path.join(WORKLOADS, name)
    with open(os.path.join(folder, "job.json")) as text:
        job = json.load(text)
    job["modules"] = [os.path.join(folder, job.pop("module")), os.path.join(ROOT, "testbench", "occupancy", "turning.ptx")]
    for buffer in job["buffers"].values():
        if "file" in buffer:
            buffer["file"] = os.path.join(folder, buffer["file"])
    for output in job["outputs"]:
        output["expect"] = os.path.join(folder, output["expect"])
    return job


def waiting(program, folder):
    """Four SMs of a V100 are full of a kernel's blocks; a third through it, an urgent launch of one block an SM comes."""
    print("| kernel | blocks | its blocks take | | " + " | ".join(MODES) + " |")
    print("|---|---|---|---|" + "---|" * len(MODES))
    for name in ("sgemm", "stencil_f64", "mandelbrot"):
        settings = ["gpu.sm_count=4"]
        alone = run(program, workload(name), "v100", settings, folder)
        kernel, mhz = alone["kernels"][0], alone["gpu"]["config"]["gpu.core_clock_mhz"]
        at = kernel["start_cycle"] + kernel["cycles"] // 3
        waits, ends, longer = [], [], []
        for mode in MODES:
            job = workload(name)
            job["launches"].append({"kernel": "turning", "grid": [4, 1, 1], "block": [1024, 1, 1], "stream": 9, "priority": 5,
                                    "at_cycle": at, "args": [{"u32": 100}, {"u32": 0}, {"u32": 0}]})
            m = run(program, job, "v100", settings + ["context.priority_preemption=" + mode], folder)
            urgent = [k for k in m["kernels"] if k["stream"] == 9][0]
            taken = sorted({mode for s in m["context_switches"] for mode in s["block_modes"]})
            waits.append("%.1f us%s" % ((urgent["start_cycle"] - at) / mhz, " (%s)" % ", ".join(taken) if mode == "auto" else ""))
            ends.append("%.1f us" % ((urgent["end_cycle"] - at) / mhz))
            longer.append("%.1f us" % ((m["cycles"] - alone["cycles"]) / mhz))
        mean = kernel["cycles"] * 4 * kernel["blocks_per_sm"] / kernel["blocks"] / mhz
        print("| %s | %d | %.1f us | first block waits | %s |" % (name, kernel["blocks"], mean, " | ".join(waits)))
        print("| | | | done after | %s |" % " | ".join(ends))
        print("| | | | whole job longer by | %s |" % " | ".join(longer))


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "release", "heddle")
    what = sys.argv[2] if len(sys.argv) > 2 else "cost waiting"
    with tempfile.TemporaryDirectory() as folder:
        if "cost" in what:
            cost(program, folder)
        if "waiting" in what:
            waiting(program, folder)


if __name__ == "__main__":
    main()

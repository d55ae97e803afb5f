#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a job of many launches: rounds of breadth-first searches, factorisations and alignments of testbench/workloads.

    many_launches.py JOB.json [--rounds N]

A round is four searches, each from another node, and every second round has a factorisation and an alignment. A search has about
24 launches, whose durations depend on the data: some levels of the graph have few nodes, some have most.
"""
import argparse
import json
import os
import sys

WORKLOADS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testbench", "workloads")
SEARCHES = 4  # of a round
NODES = 3000
STEP = 37  # from the first node of one search to that of the next


class workload:
    """A job of the workloads, whose buffers get names of their own."""

    def __init__(self, name, folder):
        path = os.path.join(WORKLOADS, name)
        with open(os.path.join(path, "job.json")) as text:
            job = json.load(text)
        self.name = name
        self.module = os.path.relpath(os.path.join(path, job["module"]), folder)
        self.launches = [self.renamed(launch) for launch in job["launches"]]
        self.buffers = {}
        for buffer, content in job["buffers"].items():
            if "file" in content:
                content = {"file": os.path.relpath(os.path.join(path, content["file"]), folder)}
            self.buffers[f"{name}_{buffer}"] = content

    def renamed(self, launch):
        launch = json.loads(json.dumps(launch))
        if "memset" in launch:
            launch["memset"] = f"{self.name}_{launch['memset']}"
        for argument in launch.get("args", []):
            if "buffer" in argument:
                argument["buffer"] = f"{self.name}_{argument['buffer']}"
        if "repeat" in launch:
            launch["repeat"] = [self.renamed(inner) for inner in launch["repeat"]]
            launch["while_nonzero"] = f"{self.name}_{launch['while_nonzero']}"
        return launch


def search(bfs, node):
    """The launches of a search from this node."""
    launches = json.loads(json.dumps(bfs.launches))
    launches[1]["offset"] = 4 * node
    return [{"memset": "bfs_level"}] + launches


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job")
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args()
    if options.rounds < 1:
        sys.exit(f"--rounds: got {options.rounds}, expected 1 or more")
    folder = os.path.dirname(os.path.abspath(options.job))
    os.makedirs(folder, exist_ok=True)
    bfs, lu, align = (workload(name, folder) for name in ("bfs", "lu_decomposition", "needleman_wunsch"))
    launches = []
    for k in range(options.rounds):
        for s in range(SEARCHES):
            launches += search(bfs, (SEARCHES * k + s) * STEP % NODES)
        if k % 2 == 0:
            launches += lu.launches + align.launches
    job = {"modules": [w.module for w in (bfs, lu, align)],
           "buffers": {**bfs.buffers, **lu.buffers, **align.buffers}, "launches": launches}
    with open(options.job, "w") as out:
        json.dump(job, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()

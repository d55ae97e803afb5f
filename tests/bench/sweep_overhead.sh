#!/bin/sh
# SPDX-License-Identifier: MIT
# What a point of a sweep costs beside its simulation: CPU seconds of a sweep of a thousand small points, and of the simulation alone in
# runs of the same job.  sweep_overhead.sh [HEDDLE [POINTS]]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
heddle=${1:-$root/build/release/heddle}
points=${2:-1000}
job=$root/testbench/workloads/vector_add/job.json
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
printf '[sweep]\njob = %s\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1\ntlm.random_delay_seed = 1:%d:1\n' "$job" "$points" >s.ini

python3 - "$heddle" "$job" "$points" <<'END'
import json, os, resource, subprocess, sys, time
heddle, job, points = sys.argv[1], sys.argv[2], int(sys.argv[3])

def cpu():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime

def ready_to_run(coordinator):
    """Its processes that have a core or wait for one: what the sweep would keep busy, whatever else the machine runs."""
    count = 0
    try:
        with open("/proc/%d/task/%d/children" % (coordinator, coordinator)) as text:
            processes = text.read().split() + [str(coordinator)]
    except OSError:
        return 0
    for process in processes:
        try:
            with open("/proc/%s/stat" % process) as text:
                count += text.read().rsplit(")", 1)[1].split()[0] == "R"
        except OSError:
            pass
    return count

simulation = 0.0
runs = 20
for _ in range(runs):
    subprocess.run([heddle, "run", job, "--quiet", "--set", "gpu.sm_count=1", "--metrics", "m.json"], check=True)
    with open("m.json") as text:
        simulation += json.load(text)["host"]["cpu_seconds"] / runs
before, began = cpu(), time.monotonic()
sweep = subprocess.Popen([heddle, "sweep", "s.ini", "--quiet"])
ready = []
while sweep.poll() is None:
    ready.append(ready_to_run(sweep.pid))
    time.sleep(0.01)
if sweep.returncode != 0:
    sys.exit("the sweep failed")
wall, used = time.monotonic() - began, cpu() - before
print("%d points: %.1f s, %.2f cores busy; a point takes %.1f ms of CPU time, %.1f ms of them simulation, %.1f ms beside it"
      % (points, wall, used / wall, 1e3 * used / points, 1e3 * simulation, 1e3 * (used / points - simulation)))
print("%.2f of its processes were ready to run on the average" % (sum(ready) / len(ready)))
print("the largest process held %.0f MB" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))
END

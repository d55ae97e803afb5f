#!/bin/sh
# SPDX-License-Identifier: MIT
# What views cost the host: trace_cost.sh PROGRAM [RUNS]. CPU seconds of SGEMM on a whole GTX 1080, without a view and with one SM of 20 in it;
# of some runs the fastest, as what else the machine does only slows.
set -eu
program=$1 runs=${2:-5}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The least CPU time of the simulation.
least() {
  k=0
  while [ $k -lt "$runs" ]; do
    "$program" run "$root/testbench/workloads/sgemm/job.json" --gpu gtx1080 --quiet --metrics "$work/m.json" "$@"
    sed -n 's/.*"cpu_seconds": *\([0-9.e-]*\).*/\1/p' "$work/m.json"
    k=$((k + 1))
  done | sort -g | head -n 1
}

none=$(least)
echo "no view: $none s"
for view in vcd pipeline timeline; do
  with=$(least --$view "$work/view")
  echo "--$view: $with s, $(awk "BEGIN { printf \"%.2f\", $with / $none }") times as long, $(($(wc -c < "$work/view") / 1000000)) MB"
done

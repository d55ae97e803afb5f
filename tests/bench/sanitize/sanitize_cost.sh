#!/bin/sh
# SPDX-License-Identifier: MIT
# What --sanitize costs the host: sanitize_cost.sh PROGRAM CUDA_LAUNCHES. Instructions of whole runs with and without it, by
# callgrind; fails above 4 times. 77: valgrind is not there.
set -eu
command -v valgrind >/dev/null || { echo "skipped: valgrind is not there (Debian: apt-get install valgrind)"; exit 77; }
program=$1 launches=$2
root=$(cd "$(dirname "$0")/../../.." && pwd)
workloads=$root/testbench/workloads
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HEDDLE_THREADS=1

# Millions of instructions of a run, whose exit code is `finds` at most.
finds=0
instructions() {
  code=0
  valgrind --tool=callgrind --callgrind-out-file="$work/profile" "$@" >"$work/log" 2>&1 || code=$?
  [ "$code" -le "$finds" ] || { cat "$work/log" >&2; exit 1; }
  sed -n 's/^totals: //p' "$work/profile" | awk '{ printf "%.0f", $1 / 1e6 }'
}

# cost NAME COMMAND ARGUMENTS: prints a row of docs/use/sanitize.md.
failed=0
cost() {
  name=$1 command=$2
  shift 2
  without=$(instructions "$program" "$command" --quiet --log-level error "$@")
  with=$(instructions "$program" "$command" --sanitize --quiet --log-level error "$@")
  awk -v n="$name" -v a="$with" -v b="$without" \
    'BEGIN { printf "| %s | %d | %d | %.2f |%s\n", n, b, a, a / b, (a > 4 * b ? "  <- more than 4" : ""); exit (a > 4 * b) }' ||
    failed=1
}

kernels=$root/tests/bench/sanitize/sanitize_cost.ptx
for kernel in vectors rows; do
  cost "$kernel of shared memory" run --kernel "$kernels:$kernel" --grid 16 --block 256 --arg buf:65536 --arg s32:40 \
    --gpu v100
done
for name in sgemm_register_tiled stencil_f64 transpose reduction histogram; do
  cost "$name" run "$workloads/$name/job.json" --gpu v100
done
cost "gather" run --kernel "$kernels:gather" --grid 32 --block 256 --arg buf:1048576 --arg buf:32768 --arg s32:32 --gpu v100
# Launches that are functional anyway: functional NAME PTX KERNEL GRID BLOCK LAUNCHES ARGUMENTS.
gpu=v100
functional() {
  name=$1
  shift
  cost "functional: $name" exec --skip-functional --gpu "$gpu" -- "$launches" "$@"
}
functional "sgemm, 256 x 256" "$workloads/sgemm/sgemm.ptx" sgemm 16,16 16,16 1 s32:256 buf:262144 buf:262144 buf:262144
functional "tiles, 256 x 256" "$kernels" tiles 16,16 16,16 1 buf:262144 buf:262144 buf:262144 s32:256
functional "saxpy, 4 launches" "$kernels" saxpy 1024 256 4 buf:1048576 buf:1048576 s32:262144
functional "sums, 4 launches" "$kernels" sums 1024 256 4 buf:2097152 buf:4096 s32:524288
functional "bytes, 4 launches" "$kernels" bytes 64 256 4 buf:1048576 buf:1024 s32:1048576
functional "rows" "$kernels" rows 64 256 1 buf:262144 s32:40
# Words and bytes at random.
functional "gather" "$kernels" gather 128 256 1 buf:1048576 buf:131072 s32:64
functional "scatter" "$kernels" scatter 128 256 1 buf:1048576 s32:64
functional "lookup" "$kernels" lookup 128 256 1 buf:1048576 buf:131072 s32:64
# Neighbours' words.
functional "five points" "$kernels" five_points 32,128 32,8 1 buf:4194304 buf:4194304 s32:1024
functional "five points, 16 x 16" "$kernels" five_points 64,64 16,16 1 buf:4194304 buf:4194304 s32:1024
functional "nine in a row" "$kernels" nine_in_a_row 2048 256 1 buf:4194304 buf:4194304 s32:524288
# Ordered by fences.
functional "fenced gather" "$kernels" fenced_gather 128 256 1 buf:1048576 buf:131072 buf:4 s32:128
functional "grid steps" "$kernels" grid_steps 64 256 1 buf:65536 buf:65536 buf:4096 buf:4 s32:64
functional "exchange" "$kernels" exchange 64 256 1 buf:1024 buf:65536 s32:1024
functional "small tiles" "$kernels" small_tiles 64 256 1 buf:1024 buf:65536 s32:1024
# Volatile words that many threads read, or that a warp exchanges.
functional "polled" "$kernels" polled 64 256 1 buf:4096 buf:65536 s32:512
functional "volatile exchange" "$kernels" volatile_exchange 64 256 1 buf:1024 buf:65536 s32:256
functional "volatile sums" "$kernels" volatile_sums 64 256 1 buf:1024 buf:65536 s32:128
# Memory of malloc.
functional "own memory" "$kernels" own_memory 32 256 1 buf:32768 s32:16
functional "heap walk" "$kernels" heap_walk 16 256 1 buf:16384 s32:64
# Asynchronous copies.
copies=$root/tests/bench/sanitize/sanitize_copies.ptx
gpu=h100
functional "async tiles" "$copies" async_tiles 64 256 1 buf:262144 buf:262144 buf:262144 s32:256
# Longer runs of these take more than 4 times (docs/use/sanitize.md).
functional "bulk pipeline" "$copies" bulk_pipeline 16 256 1 buf:262144 buf:16384 s32:32
functional "mbarriers" "$copies" mbarriers 16 256 1 buf:16384 s32:32
functional "cluster exchange" "$copies" cluster_exchange 16 256 1 buf:16384 s32:128
functional "cluster atomics" "$copies" cluster_atomics 16 256 1 buf:16384 s32:64
functional "async pipeline" "$copies" async_pipeline 16 256 1 buf:1048576 buf:16384 s32:128
gpu=v100
functional "gaps" "$kernels" gaps 16 256 1 buf:65536 s32:64
# Millions of races.
finds=1
functional "shared races" "$kernels" shared_races 64 256 1 buf:1024 buf:65536 s32:2048
functional "global races" "$kernels" global_races 64 256 1 buf:32768 buf:65536 s32:256
exit $failed

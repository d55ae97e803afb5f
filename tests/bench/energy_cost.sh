#!/bin/sh
# SPDX-License-Identifier: MIT
# What the account of energy costs the host: energy_cost.sh PROGRAM. Instructions of whole runs with and without it, by
# callgrind; fails above 2 %. 77: valgrind is not there.
set -eu
command -v valgrind >/dev/null || { echo "skipped: valgrind is not there (Debian: apt-get install valgrind)"; exit 77; }
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
workloads=$root/testbench/workloads
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HEDDLE_THREADS=1

# Instructions of a run: instructions ACCOUNT ARGUMENTS.
instructions() {
  account=$1
  shift
  valgrind --tool=callgrind --callgrind-out-file="$work/profile" "$program" "$@" --quiet --metrics "$work/m.json" \
    --set "energy.account=$account" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  sed -n 's/^totals: //p' "$work/profile"
}

# cost NAME MOST ARGUMENTS: prints the share; most: percent.
failed=0
cost() {
  name=$1 most=$2
  shift 2
  with=$(instructions true "$@") without=$(instructions false "$@")
  awk -v n="$name" -v a="$with" -v b="$without" -v m="$most" \
    'BEGIN { p = 100 * (a / b - 1); printf "%-40s %6.2f %%%s\n", n, p, (p > m ? "  <- more than " m " %" : ""); exit (p > m) }' ||
    failed=1
}

cat >"$work/tiny.ptx" <<'END'
.version 7.8
.target sm_80
.address_size 64
.visible .entry tiny(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
END
cat >"$work/add.ptx" <<'END'
.version 7.8
.target sm_80
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra end;
  mul.wide.s32 %rd4, %r5, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
end:
  ret;
}
END
cat >"$work/loop.ptx" <<'END'
.version 7.8
.target sm_80
.address_size 64
.visible .entry turn(.param .u64 p, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.f32 %f1, 0f3F800000;
loop:
  fma.rn.f32 %f1, %f1, %f1, %f1;
  ld.global.f32 %f2, [%rd3];
  add.f32 %f1, %f1, %f2;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra loop;
  st.global.f32 [%rd3], %f1;
  ret;
}
END
# 3,000 multiply-adds in a row, of which few execute in an interval.
{
  printf '.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry long(.param .u64 p)\n{\n'
  printf '  .reg .f32 %%f<3>;\n  .reg .b64 %%rd<2>;\n  ld.param.u64 %%rd1, [p];\n  ld.global.f32 %%f1, [%%rd1];\n'
  k=0
  while [ $k -lt 3000 ]; do
    echo '  fma.rn.f32 %f1, %f1, %f1, %f1;'
    k=$((k + 1))
  done
  printf '  st.global.f32 [%%rd1], %%f1;\n  ret;\n}\n'
} >"$work/long.ptx"
# apart NAME COUNT TURNS: the two warps of a block execute COUNT multiply-adds each, TURNS times, in different places of the program.
apart() {
  {
    printf '.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry apart(.param .u64 p)\n{\n  .reg .pred %%p<3>;\n'
    printf '  .reg .f32 %%f<3>;\n  .reg .b32 %%r<3>;\n  .reg .b64 %%rd<2>;\n  ld.param.u64 %%rd1, [p];\n  ld.global.f32 %%f1, [%%rd1];\n'
    printf '  mov.u32 %%r1, %%tid.x;\n  mov.u32 %%r2, 0;\n  setp.ge.u32 %%p1, %%r1, 32;\n  @%%p1 bra b;\n'
    for place in a b; do
      printf '%s:\n' $place
      k=0
      while [ $k -lt "$2" ]; do
        echo '  fma.rn.f32 %f1, %f1, %f1, %f1;'
        k=$((k + 1))
      done
      printf '  add.u32 %%r2, %%r2, 1;\n  setp.lt.u32 %%p2, %%r2, %s;\n  @%%p2 bra %s;\n  bra.uni end;\n' "$3" $place
    done
    printf 'end:\n  st.global.f32 [%%rd1], %%f1;\n  ret;\n}\n'
  } >"$work/$1.ptx"
}
apart straight 3000 1
apart loops 1000 4
# repeat LAUNCH TIMES: the list of launches.
repeat() {
  printf '%s' "$1"
  k=1
  while [ $k -lt "$2" ]; do
    printf ', %s' "$1"
    k=$((k + 1))
  done
}
launch='{"kernel": "add", "grid": [4, 1, 1], "block": [256, 1, 1],'
launch="$launch \"args\": [{\"buffer\": \"a\"}, {\"buffer\": \"b\"}, {\"buffer\": \"c\"}, {\"s32\": 1024}]}"
buffers='"a": {"bytes": 4096}, "b": {"bytes": 4096}, "c": {"bytes": 4096}'
printf '{"module": "add.ptx", "buffers": {%s}, "launches": [%s]}\n' "$buffers" "$(repeat "$launch" 50)" >"$work/add.json"
launch='{"kernel": "tiny", "grid": [1, 1, 1], "block": [32, 1, 1], "args": [{"buffer": "a"}]}'
printf '{"module": "tiny.ptx", "buffers": {"a": {"bytes": 4096}}, "launches": [%s]}\n' "$(repeat "$launch" 400)" >"$work/tiny.json"
flush='"preempt": [{"at_cycle": 100000000, "mode": "flush"}]'
# stores COUNT: a kernel of so many different stores to shared memory.
stores() {
  {
    printf '.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry stores(.param .u64 p)\n{\n  .reg .b32 %%r<3>;\n'
    printf '  .shared .align 4 .b8 s[128];\n  mov.u32 %%r1, %%tid.x;\n  shl.b32 %%r2, %%r1, 2;\n  mov.u32 %%r1, s;\n'
    printf '  add.u32 %%r2, %%r2, %%r1;\n'
    k=0
    while [ $k -lt "$1" ]; do
      echo '  st.shared.u32 [%r2], %r1;'
      k=$((k + 1))
    done
    printf '  ret;\n}\n'
  } >"$work/stores$1.ptx"
}
stores 200
# flushable COUNT BLOCKS: blocks of one warp that execute each of the stores once.
flushable() {
  printf '{"module": "stores%s.ptx", "buffers": {"a": {"bytes": 4096}}, "launches": [{"kernel": "stores",' "$1"
  printf '"grid": [%s, 1, 1], "block": [32, 1, 1], "args": [{"buffer": "a"}]}], %s}\n' "$2" "$flush"
}
flushable 200 400 >"$work/stores_gtx1080.json"
flushable 200 1600 >"$work/stores_v100.json"
{
  printf '{"module": "%s", "buffers": {"a": {"bytes": 163840, "fill": "random:9"},' "$workloads/divergent/divergent.ptx"
  printf '"b": {"bytes": 163840}}, "launches": [{"kernel": "divergent", "grid": [320, 1, 1], "block": [128, 1, 1],'
  printf '"args": [{"buffer": "a"}, {"buffer": "b"}, {"s32": 40960}]}], %s}\n' "$flush"
} >"$work/divergent_flush.json"
# concurrent BLOCKS TURNS NAME: 32 launches in streams of their own.
concurrent() {
  launches=
  k=0
  while [ $k -lt 32 ]; do
    launch="{\"kernel\": \"turn\", \"grid\": [$1, 1, 1], \"block\": [32, 1, 1], \"stream\": $k,"
    launches="$launches${launches:+, }$launch \"args\": [{\"buffer\": \"a\"}, {\"s32\": $2}]}"
    k=$((k + 1))
  done
  printf '{"module": "loop.ptx", "buffers": {"a": {"bytes": 4096}}, "launches": [%s]}\n' "$launches" >"$work/$3.json"
}
concurrent 132 40 wide
concurrent 66 200 deep

divergent="run --kernel $workloads/divergent/divergent.ptx:divergent --grid 320 --block 128 --arg buf:163840:random:9"
divergent="$divergent --arg buf:163840 --arg s32:40960"
for gpu in v100 h100; do
  # shellcheck disable=SC2086  # a list of words
  cost "divergent, 320 blocks, $gpu" 2 $divergent --gpu $gpu
  cost "hotspot, $gpu" 2 run "$workloads/hotspot/job.json" --gpu $gpu
  cost "pointer_chase, $gpu" 2 run "$workloads/pointer_chase/job.json" --gpu $gpu
done
for workload in lu_decomposition needleman_wunsch; do
  cost "$workload, gtx1080" 2 run "$workloads/$workload/job.json" --gpu gtx1080
done
cost "3,000 multiply-adds in a row, h100" 2 run --kernel "$work/long.ptx" --grid 132 --block 32 --arg buf:4096 --gpu h100
cost "two warps, 3,000 multiply-adds each, h100" 2 run --kernel "$work/straight.ptx" --grid 132 --block 64 --arg buf:4096 --gpu h100
cost "two warps, loops of 1,000 each, h100" 2 run --kernel "$work/loops.ptx" --grid 132 --block 64 --arg buf:4096 --gpu h100
cost "50 vector additions of 1,024 elements, h100" 2 run "$work/add.json" --gpu h100
cost "400 launches of six instructions, h100" 2 run "$work/tiny.json" --gpu h100
cost "32 concurrent launches of 132 warps, h100" 2 run "$work/wide.json" --gpu h100
cost "32 concurrent launches of 66 longer warps, h100" 2 run "$work/deep.json" --gpu h100
# Where blocks count, since they may be flushed.
for gpu in gtx1080 v100; do
  cost "flush: blocks of different stores, $gpu" 2 run "$work/stores_$gpu.json" --gpu $gpu
done
cost "flush: divergent, 320 blocks, v100" 2 run "$work/divergent_flush.json" --gpu v100
exit $failed

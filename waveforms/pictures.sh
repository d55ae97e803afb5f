#!/bin/sh
# SPDX-License-Identifier: MIT
# Draws the pictures of README.md from real runs: pictures.sh [PROGRAM [LAYOUT...]]. Needs gtkwave, xvfb-run and ImageMagick.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
program=${1:-$root/build/release/heddle}
[ $# -gt 0 ] && shift
all='first scheduler memory context_switch dual_issue power gemm attention stencil split_sum'
[ $# -gt 0 ] || set -- $all
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# picture LAYOUT NAME FROM_CYCLE ZOOM ARGUMENTS...: what GTKWave shows of the run, 2^ZOOM picoseconds a pixel; a cycle is a nanosecond
picture() {
  layout=$1 name=$2 from=$3 zoom=$4
  shift 4
  "$program" run "$@" --set gpu.core_clock_mhz=1000 --quiet --vcd "$work/$name.vcd"
  cat > "$work/$name.tcl" <<END
gtkwave::setZoomFactor -$zoom
gtkwave::setWindowStartTime ${from}000
gtkwave::setMarker ${from}000
END
  xvfb-run -a -s "-screen 0 1600x1000x24" sh -c '
    gtkwave -S "$1/$2.tcl" "$1/$2.vcd" "$3/$4.gtkw" > "$1/$2.log" 2>&1 & shown=$!
    sleep "${SECONDS_TO_DRAW:-10}"
    import -window root "$1/$2.png"
    kill "$shown"' picture "$work" "$name" "$here" "$layout"
  convert "$work/$name.png" -colors 64 "$here/$name.png"
  echo "waveforms/$name.png"
}

# hopper NAME FROM_CYCLE ZOOM: a kernel of clusters or bulk copies
hopper() {
  picture clusters "$1" "$2" "$3" "$root/testbench/hopper/$1.json" --gpu h100 --trace-scope 'gpu.sm0*,gpu.sm1.*'
}

# What comes beside a waveform by itself, as GTKWave opens it.
first() {
  "$program" run "$@" --quiet --vcd "$work/first.vcd"
  xvfb-run -a -s "-screen 0 1600x1000x24" sh -c '
    cd "$1" && gtkwave first.vcd first.gtkw > first.log 2>&1 & shown=$!
    sleep "${SECONDS_TO_DRAW:-10}"
    import -window root "$1/first.png"
    kill "$shown"' first "$work"
  convert "$work/first.png" -colors 64 "$here/first.png"
  echo "waveforms/first.png"
}

jobs=$root/testbench/workloads
for layout in "$@"; do
  case $layout in
    first) first "$jobs/sgemm/job.json" --gpu gtx1080 ;;
    scheduler) picture scheduler scheduler 2150 13 "$jobs/sgemm/job.json" --gpu gtx1080 --trace-window 2000:3500 ;;
    memory) picture memory memory 1050 18 "$jobs/transpose/job.json" --gpu gtx1080 --trace-window 1000:8000 \
      --trace-scope 'gpu.cwd,gpu.sm0*,gpu.l2_slice0,gpu.l2_slice1,gpu.dram_channel0,gpu.dram_channel1' ;;
    context_switch) picture context_switch context_switch 5000 23 "$root/testbench/preemption/full_context.json" --gpu gtx1080 \
      --trace-window 5000:100000 ;;
    dual_issue) picture dual_issue dual_issue 26671 13 "$jobs/sgemm_register_tiled/job.json" --gpu gtxtitan --trace-window 26600:27600 ;;
    power) picture power power 700 23 "$jobs/sgemm/job.json" --gpu v100 ;;
    gemm) hopper gemm 4000 20 ;;
    attention) hopper attention 6000 20 ;;
    stencil) hopper stencil 3000 20 ;;
    split_sum) hopper split_sum 3000 20 ;;
    *) echo "pictures.sh: no layout '$layout', expected one of: $all" >&2; exit 2 ;;
  esac
done

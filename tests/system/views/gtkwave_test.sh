#!/bin/sh
# SPDX-License-Identifier: MIT
# GTKWave, on a virtual display, opens the written files: each signal is shown from the start of the waveform, with
# enumerations as words; and the ready-made layouts show their signals. gtkwave_test.sh PROGRAM SOURCE SCRATCH. Exit
# 77: GTKWave or Xvfb is missing.
set -eu
program=$1 source=$2 scratch=$3
for tool in gtkwave xvfb-run; do
  command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
mkdir -p "$scratch"
fail() { echo "gtkwave_test: $*" >&2; exit 1; }

"$program" run "$source/testbench/workloads/sgemm/job.json" --gpu gtx1080 --set gpu.sm_count=2 --quiet --trace-window 2000:2400 \
  --trace-scope 'gpu.cwd,gpu.sm0*,gpu.l2_slice0,gpu.l2_slice1,gpu.dram_channel0,gpu.dram_channel1' --vcd "$scratch/w.vcd"

cat > "$scratch/ask.tcl" <<'END'
puts "signals [gtkwave::getNumFacs]"
puts "displayed [llength [gtkwave::getDisplayedSignals]]"
puts "start [gtkwave::getWindowStartTime]"
puts "end [gtkwave::getWindowEndTime]"
gtkwave::setMarker [gtkwave::getWindowStartTime]
for {set k 0} {$k < [gtkwave::getTotalNumTraces]} {incr k} {
  puts "trace [gtkwave::getTraceNameFromIndex $k] = [gtkwave::getTraceValueAtMarkerFromIndex $k]"
}
exit
END

# ask LAYOUT [WAVEFORM]: GTKWave's report on the waveform with this layout, started in another folder.
ask() {
  (cd / && timeout 100 xvfb-run -a gtkwave -S "$scratch/ask.tcl" ${2:+"$2"} "$1") > "$scratch/said" 2>&1 ||
    fail "GTKWave did not open $1: $(cat "$scratch/said")"
  ! grep -q 'Could not open' "$scratch/said" || fail "GTKWave under $1: $(grep 'Could not open' "$scratch/said" | head -n 1)"
}
said() { sed -n "s/^$1 //p" "$scratch/said"; }
# States of warps are shown as words of the filter, not as numbers.
words() {
  count=0
  for word in $(sed -n -e 's/^trace warp[0-9]*_state[^=]* = //p' -e 's/^trace warp [0-9]* = //p' "$scratch/said"); do
    sed 's/.*?//' "$source/waveforms/state.filter" | grep -qx "$word" || fail "$1 shows a warp's state as '$word'"
    count=$((count + 1))
  done
  [ $count -ge 16 ] || fail "$1 shows $count warps"
}

declared=$(grep -c '^\$var ' "$scratch/w.vcd")
ask "$scratch/w.gtkw" "$scratch/w.vcd"
[ "$(said signals)" = "$declared" ] || fail "GTKWave found $(said signals) signals of $declared"
[ "$(said displayed)" = "$declared" ] || fail "the layout shows $(said displayed) signals of $declared"
start=$(sed -n 's/^\[timestart\] //p' "$scratch/w.gtkw")
[ "$(said start)" = "$start" ] || fail "the view begins at $(said start), expected $start"
words w.gtkw
# A cycle is a nanosecond on the axis, also at 1607 MHz; issue and warp states are shown first.
grep -q '^#2000000$' "$scratch/w.vcd" || fail "the window of cycle 2000 does not begin at 2000 ns"
[ $((start % 1000)) = 0 ] && [ "$start" -ge 2000000 ] && [ "$start" -lt 2400000 ] || fail "the view begins at $start ps, expected a cycle of the window"
grep -q '^trace line = [a-z_]*\.ptx:[0-9]' "$scratch/said" || fail "the layout does not show the line that issues: $(grep '^trace line' "$scratch/said")"
first=$(sed -n 's/^trace \([^=]*\) = .*/\1/p' "$scratch/said" | grep -v '^ *$' | head -n 13 | tr '\n' ';')
case $first in
  *cycle*';warps on the SM;'*';instructions issued;warp;operation;'*';eligible warps;'*';warp 0;'*) ;;
  *) fail "the layout begins with $first" ;;
esac
# The layout names the waveform to which it belongs.
ask "$scratch/w.gtkw"
[ "$(said signals)" = "$declared" ] || fail "GTKWave found $(said signals) signals of $declared by the layout alone"
words w.gtkw
for layout in scheduler memory context_switch dual_issue power; do
  ask "$source/waveforms/$layout.gtkw" "$scratch/w.vcd"
  wanted=$(sed 's/^+{[^}]*} //' "$source/waveforms/$layout.gtkw" | grep -c '^gpu\.')
  [ "$(said displayed)" = "$wanted" ] || fail "$layout.gtkw shows $(said displayed) signals of $wanted"
  shown=$(($(said end) - $(said start)))
  [ $shown -ge 50000 ] || fail "$layout.gtkw opens with $shown ps in the window, expected 50000 at the least"
  [ $layout = dual_issue ] || words $layout.gtkw   # warps are folded in that layout
done
echo "GTKWave shows $declared signals"

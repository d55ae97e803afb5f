#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes the pictures of README.md from a real run: docs/pictures/make.sh [PROGRAM]. Needs chromium-headless-shell (or chromium), ImageMagick,
# and for the waveform what waveforms/pictures.sh needs: gtkwave and xvfb-run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
program=$(realpath "${1:-$root/build/release/heddle}")
browser=$(command -v chromium-headless-shell || command -v chromium)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
"$program" run testbench/workloads/sgemm/job.json --gpu gtx1080 --quiet --report "$work/sgemm.html"
"$browser" --headless --no-sandbox --hide-scrollbars --force-color-profile=srgb --virtual-time-budget=8000 --window-size=1200,1240 \
  --screenshot="$work/report.png" "file://$work/sgemm.html" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
convert "$work/report.png" +dither -colors 128 "$here/report.png"
echo docs/pictures/report.png
"$root/waveforms/pictures.sh" "$program" first
# Without the window's frame, and as much as reads well in a page.
convert "$root/waveforms/first.png" -crop 1545x665+50+120 +repage +dither -colors 48 "$here/waveform.png"
echo docs/pictures/waveform.png

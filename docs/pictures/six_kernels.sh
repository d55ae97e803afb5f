#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes the pictures of docs/use/report_tour.md from a real run: docs/pictures/six_kernels.sh [PROGRAM]. Needs node, npm and
# chromium-headless-shell (or chromium).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
program=$(realpath "${1:-$root/build/release/heddle}")
browser=${HEDDLE_BROWSER:-$(command -v chromium-headless-shell || command -v chromium)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
[ -d build/viewers/node_modules/playwright-core ] || ./dev viewers
"$program" run tests/viewers/six_kernels/job.json --gpu v100 --quiet --report "$work/six.html"
node docs/pictures/six_kernels.mjs build/viewers "$browser" "$work/six.html" docs/pictures

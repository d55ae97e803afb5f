#!/bin/sh
# SPDX-License-Identifier: MIT
# tidy.sh BUILD [all | since COMMIT | FILE...]: clang-tidy 14 with the checks of .clang-tidy, which hold everywhere. BUILD: a configured
# build folder. Default: `since HEAD`, the C++ sources that differ from the last commit. Without clang-tidy 14: exit code 77.
set -eu
build=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
for tool in clang-tidy-14 clang-tidy none; do
  "$tool" --version 2>/dev/null | grep -q 'version 14\.' && break
done
[ "$tool" != none ] || { echo "tidy: clang-tidy 14 is not here (Debian: apt-get install clang-tidy-14)" >&2; exit 77; }
[ -f "$build/compile_commands.json" ] || { echo "tidy: '$build' is not a configured build folder" >&2; exit 2; }

if [ "${1:-}" = all ]; then
  # What the build compiles: with batches, the headers that sources share are read once a batch.
  files=$(sed -n 's/^ *"file": "\(.*\.cpp\|.*unity[^"]*\.cxx\)".*/\1/p' "$build/compile_commands.json" | grep -v "^$build/.*\.cpp$" | sort -u)
else
  [ "$#" -gt 0 ] || set -- since HEAD
  if [ "$1" = since ]; then
    files=$({ git diff --name-only --diff-filter=d "$2"; git ls-files --others --exclude-standard; } |
      grep -E '^(model|tlm|testbench|tests)/.*\.(h|cpp)$' | grep -v '^testbench/report/page/' | sort -u || true)
  else
    files=$*
  fi
fi
[ -n "$files" ] || exit 0
# A batch includes .cpp files by its nature.
echo "$files" | xargs -n 1 -P "${HEDDLE_JOBS:-2}" "$tool" -p "$build" --quiet --config-file=.clang-tidy --warnings-as-errors='*' \
  --checks=-bugprone-suspicious-include

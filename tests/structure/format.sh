#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh [check]: lays out all C++ of the project, and the CUDA of testbench/, as .clang-format says, or only tells what differs.
# Not the CUDA of tests/: decision 12. Releases of clang-format differ in details: 14 decides. Without it: exit code 77.
set -eu
cd "$(dirname "$0")/../.."
for tool in clang-format-14 clang-format; do
  if "$tool" --version 2>/dev/null | grep -q 'version 14\.'; then
    set -- "$tool" "${1:-}"
    break
  fi
done
[ "$#" -eq 2 ] || { echo "format: clang-format 14 is not here (Debian: apt-get install clang-format-14)" >&2; exit 77; }
if [ "$2" = check ]; then how='--dry-run -Werror'; else how=-i; fi
# shellcheck disable=SC2086  # two words
find model tlm testbench tests \( -name node_modules -o -name build \) -prune -o \( -name '*.h' -o -name '*.cpp' -o -name '*.inc' \
  -o -path 'testbench/*.cu' -o -path 'testbench/*.cuh' \) -print0 | xargs -0 -n 40 -P 2 "$1" $how

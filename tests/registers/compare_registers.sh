#!/bin/sh
# SPDX-License-Identifier: MIT
# Registers per thread that lowering allocates, against what ptxas (of the CUDA toolkit) takes for the same kernels.
#
#   compare_registers.sh HEDDLE [FILE.ptx...]     default: the workloads' PTX
#
# Prints a line per kernel and the median of the ratios; fails if the median is not within 20 % of 1. Without ptxas it is skipped (77).
# Both are asked for compute capability 7.5, the oldest that the toolkit knows; what needs a later one is asked for 8.0.
set -u
heddle=$1
shift
command -v ptxas >/dev/null 2>&1 || { echo "skipped: no ptxas here"; exit 77; }
[ $# -gt 0 ] || set -- "$(dirname "$0")"/../../testbench/workloads/*/*.ptx
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for file in "$@"; do
  for try in "sm_75 rtx2060" "sm_80 a100" "sm_90 h100"; do
    chip=${try% *}
    gpu=${try#* }
    ptxas -v "-arch=$chip" -o /dev/null "$file" >"$folder/ptxas" 2>&1 || continue
    # "Compiling entry function 'NAME' for", then for functions that it calls their own lines, then "Used N registers".
    awk -F"'" '/Compiling entry function/ { name = $2; next }
               /Used [0-9]+ registers/ { split($0, w, " "); for (k in w) if (w[k] == "Used" && name != "") { print name, w[k + 1]; name = "" } }' \
      "$folder/ptxas" >"$folder/theirs"
    while read -r name theirs; do
      ours=$("$heddle" disasm "$file:$name" --gpu "$gpu" 2>/dev/null | sed -n '1s/.* \([0-9]*\) registers.*/\1/p')
      echo "$name ${ours:-refused} $theirs $file"
    done <"$folder/theirs"
    break
  done
done | awk '{ split($4, path, "/"); label = path[length(path)]; sub(/\.ptx$/, "", label)
              if ($2 == "refused") { printf "%-36s refused   ptxas %3d  %s\n", $1, $3, label; next }
              ratio[++n] = $2 / $3; printf "%-36s %3d       ptxas %3d  ratio %.2f  %s\n", $1, $2, $3, ratio[n], label }
            END { if (n == 0) { print "no kernel to compare"; exit 1 }
                  for (i = 2; i <= n; ++i) { v = ratio[i]; for (j = i - 1; j > 0 && ratio[j] > v; --j) ratio[j + 1] = ratio[j]; ratio[j + 1] = v }
                  median = n % 2 ? ratio[(n + 1) / 2] : (ratio[n / 2] + ratio[n / 2 + 1]) / 2
                  within = 0; for (i = 1; i <= n; ++i) within += ratio[i] >= 0.8 && ratio[i] <= 1.2
                  printf "%d kernels, median of the ratios %.3f, %d of them within 20 %%\n", n, median, within
                  exit median < 0.8 || median > 1.2 }'

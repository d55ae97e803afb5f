#!/bin/sh
# SPDX-License-Identifier: MIT
# Registers per thread that lowering allocates, against what ptxas (of the CUDA toolkit) takes for the same kernels.
#
#   compare_registers.sh HEDDLE               the repository's kernels against ptxas_counts.txt; where ptxas is there, that table against ptxas, too
#   compare_registers.sh HEDDLE --renew       writes that table anew (needs ptxas)
#   compare_registers.sh HEDDLE FILE.ptx...   the kernels of these files against ptxas (without it: skipped, 77)
#
# Each kernel is asked for compute capability 7.5 (rtx2060), 8.0 (a100) and 9.0 (h100). Prints a line per kernel and chip, then the distribution of the ratios by
# chip. Fails if the median is not within 20 % of 1 or, for those of the repository, if fewer than 72 in 100 kernels are.
set -u
export LC_ALL=C
heddle=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
table=$here/ptxas_counts.txt
root=$(cd "$here/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

version() { ptxas --version | sed -n 's/.*, V\([0-9.]*\).*/\1/p'; }

# theirs CHIP FILE: a line "KERNEL REGISTERS" for every kernel; nothing if ptxas refuses the file for the chip.
theirs() {
  ptxas -v "-arch=$1" -o /dev/null "$2" >"$folder/ptxas" 2>&1 || return 0
  # "Compiling entry function 'NAME' for", then for functions that it calls their own lines, then "Used N registers".
  awk -F"'" '/Compiling entry function/ { name = $2; next }
             /Used [0-9]+ registers/ { split($0, w, " "); for (k in w) if (w[k] == "Used" && name != "") { print name, w[k + 1]; name = "" } }' "$folder/ptxas"
}

# ours GPU FILE: the same of lowering. A file with a kernel that is refused is asked for kernel by kernel.
ours() {
  if "$heddle" disasm "$2" --gpu "$1" >"$folder/listing" 2>/dev/null; then
    sed -n 's/^\/\/ \([^ ]*\) from .* instructions, \([0-9]*\) registers.*/\1 \2/p' "$folder/listing"
  else
    sed -n 's/.*\.entry[ \t][ \t]*\([A-Za-z0-9_$]*\).*/\1/p' "$2" | while read -r kernel; do
      "$heddle" disasm "$2:$kernel" --gpu "$1" 2>/dev/null | sed -n '1s/^\/\/ \([^ ]*\) from .* instructions, \([0-9]*\) registers.*/\1 \2/p'
    done
  fi
}

chips="sm_75:rtx2060 sm_80:a100 sm_90:h100"

# "CHIP LABEL KERNEL REGISTERS" by ptxas, for the files named.
all_of_theirs() {
  for chip in $chips; do
    for file in "$@"; do
      label=${file#"$root"/}
      theirs "${chip%:*}" "$file" | sort | sed "s|^|${chip%:*} $label |"
    done
  done
}

committed="$root/tests/registers/kernels.ptx $(echo "$root"/testbench/workloads/*/*.ptx)"
least=0
if [ "${1:-}" = --renew ] || [ $# -eq 0 ]; then
  have=no
  command -v ptxas >/dev/null 2>&1 && have=yes
  if [ "${1:-}" = --renew ]; then
    [ $have = yes ] || { echo "no ptxas here"; exit 1; }
    { echo "# Registers per thread by ptxas $(version) -v: chip, file, kernel, registers. Made by compare_registers.sh --renew."
      all_of_theirs $committed; } >"$table"
    exit
  fi
  if [ $have = yes ] && grep -q "ptxas $(version) " "$table"; then
    all_of_theirs $committed >"$folder/now"
    grep -v '^#' "$table" >"$folder/then"
    cmp -s "$folder/now" "$folder/then" || { diff "$folder/then" "$folder/now"; echo "ptxas_counts.txt is not what ptxas says: compare_registers.sh --renew"; exit 1; }
    echo "ptxas_counts.txt is what ptxas says"
  fi
  grep -v '^#' "$table" | sed "s|^\([^ ]* \)|\1$root/|" >"$folder/theirs"
  least=72
else
  command -v ptxas >/dev/null 2>&1 || { echo "skipped: no ptxas here"; exit 77; }
  all_of_theirs "$@" >"$folder/theirs"
fi

for chip in $chips; do
  awk -v chip="${chip%:*}" '$1 == chip && !seen[$2]++ { print $2 }' "$folder/theirs" | while read -r file; do
    ours "${chip#*:}" "$file" | sed "s|^|${chip%:*} $file |"
  done
done >"$folder/ours"

awk -v least="$least" '
  NR == FNR { mine[$1 " " $2 " " $3] = $4; next }
  { key = $1 " " $2 " " $3; count = split($2, path, "/"); label = path[count]; sub(/\.ptx$/, "", label)
    if (!(key in mine)) { printf "%-5s %-36s refused   ptxas %3d  %s\n", $1, $3, $4, label; next }
    r = mine[key] / $4; printf "%-5s %-36s %3d       ptxas %3d  ratio %.2f  %s\n", $1, $3, mine[key], $4, r, label
    if (!($1 in n)) chips[++of] = $1
    ratio[$1, ++n[$1]] = r }
  END { if (of == 0) { print "no kernel to compare"; exit 1 }
        for (c = 1; c <= of; ++c) { chip = chips[c]; m = n[chip]
          within = low = high = 0; delete v
          for (i = 1; i <= m; ++i) { v[i] = ratio[chip, i]; within += v[i] >= 0.8 && v[i] <= 1.2; low += v[i] < 0.67; high += v[i] > 1.5 }
          for (gap = int(m / 2); gap > 0; gap = int(gap / 2))
            for (i = gap + 1; i <= m; ++i) { x = v[i]; for (j = i; j > gap && v[j - gap] > x; j -= gap) v[j] = v[j - gap]; v[j] = x }
          median = m % 2 ? v[(m + 1) / 2] : (v[m / 2] + v[m / 2 + 1]) / 2
          printf "%s: %d kernels, median of the ratios %.3f, %.1f %% of them within 20 %%, %d below 0.67, %d above 1.5, from %.2f to %.2f\n", chip, m, median,
                 100 * within / m, low, high, v[1], v[m]
          if (median < 0.8 || median > 1.2 || 100 * within < least * m) wrong = 1 }
        exit wrong }' "$folder/ours" "$folder/theirs"

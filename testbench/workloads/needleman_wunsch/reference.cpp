// SPDX-License-Identifier: MIT
#include <algorithm>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_needleman_wunsch(const folder& out) {
  constexpr int length = 160;
  constexpr int pitch = length + 1;
  constexpr int gap = 4;
  random_numbers random(14);
  std::vector<std::uint8_t> rows(length);
  std::vector<std::uint8_t> columns(length);
  for (int i = 0; i < length; ++i) {
    rows[i] = static_cast<std::uint8_t>("ACGT"[random.below(4)]);
    columns[i] = random.below(3) ? rows[i] : static_cast<std::uint8_t>("ACGT"[random.below(4)]);
  }
  std::vector<std::int32_t> scores(pitch * pitch);
  for (int i = 0; i < pitch; ++i) scores[i] = scores[i * pitch] = -gap * i;
  out.write("rows.bin", rows);
  out.write("columns.bin", columns);
  out.write("scores.bin", scores);
  for (int y = 1; y < pitch; ++y) {
    for (int x = 1; x < pitch; ++x) {
      const int match = rows[y - 1] == columns[x - 1] ? 5 : -3;
      const int through = scores[(y - 1) * pitch + x - 1] + match;
      scores[y * pitch + x] = std::max(through, std::max(scores[(y - 1) * pitch + x], scores[y * pitch + x - 1]) - gap);
    }
  }
  out.write("scores.ref.bin", scores);
}

}  // namespace heddle::workloads

// SPDX-License-Identifier: MIT
#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_intra_warp_lock(const folder& out) {
  constexpr std::uint32_t lanes = 2 * 32;      // of the job's blocks
  constexpr std::uint32_t rounds = lanes * 2;  // of each
  out.write("words.ref.bin", std::vector<std::uint32_t>{rounds, rounds * (rounds - 1) / 2, lanes});
}

}  // namespace heddle::workloads

// SPDX-License-Identifier: MIT
#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_spin_lock(const folder& out) {
  constexpr std::uint32_t rounds = 40 * 5;  // blocks of the job x iterations of each
  out.write("words.ref.bin", std::vector<std::uint32_t>{rounds, rounds * (rounds - 1) / 2});
}

}  // namespace heddle::workloads

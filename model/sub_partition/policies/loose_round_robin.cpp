// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/loose_round_robin.h"

namespace heddle {

unsigned loose_round_robin::select(const warp_view& view) {
  const std::uint64_t after = last_ == 63 ? 0 : view.eligible & (~std::uint64_t{0} << (last_ + 1));
  last_ = static_cast<unsigned>(__builtin_ctzll(after ? after : view.eligible));
  return last_;
}

}  // namespace heddle

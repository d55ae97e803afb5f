// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/dependence/scoreboard.h"

namespace heddle {

scoreboard::scoreboard(const part_name& name, unsigned slots) : module_part(name), traced_(slots) {}

// Moves the base of the stored times. Only times far in the past are lost, and for those it matters only that they have
// passed.
void scoreboard::move_base(cycle_t cycle) {
  const cycle_t base = cycle - time_range / 2;
  const cycle_t moved = base - base_;
  for (std::uint32_t& r : rows_)
    if (r < pending) r = r >> 2 > moved ? r - static_cast<std::uint32_t>(moved << 2) : 0;
  base_ = base;
}

void scoreboard::trace(sc_core::sc_trace_file* file) const {
  for (std::size_t s = 0; s < traced_.size(); ++s)
    sc_core::sc_trace(file, traced_[s], name() + ".warp" + std::to_string(s) + "_pending");
  if (traced_by_ != nullptr) traced_by_->traced(file);
}

}  // namespace heddle

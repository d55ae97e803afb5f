// SPDX-License-Identifier: MIT
#include "sub_partition/scoreboard.h"

namespace heddle {

scoreboard::scoreboard(sc_core::sc_module_name name, unsigned slots) : sc_module(name), ready_(slots) {
  for (auto& r : ready_) r.fill(0);
}

void scoreboard::trace(sc_core::sc_trace_file* file) const {
  // The first predicates of each warp are what control flow waits for.
  for (unsigned s = 0; s < ready_.size(); ++s)
    sc_core::sc_trace(file, ready_[s][predicate_base], std::string(name()) + ".warp" + std::to_string(s) + "_p0");
}

}  // namespace heddle

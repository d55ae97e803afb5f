// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/issue_counters.h"

#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

void issue_totals::add(const issue_totals& other) {
  for (std::size_t i = 0; i < warp_cycles.size(); ++i) warp_cycles[i] += other.warp_cycles[i];
  for (std::size_t i = 0; i < warp_stalls.size(); ++i) warp_stalls[i] += other.warp_stalls[i];
  for (std::size_t i = 0; i < unit_inst.size(); ++i) unit_inst[i] += other.unit_inst[i];
#define HEDDLE_X(counter) counter += other.counter;
  HEDDLE_ISSUE_COUNTS(HEDDLE_X)
#undef HEDDLE_X
}

void issue_totals::add_units(const launch_code& code) {
  for (std::size_t i = 0; i < code.counts.size(); ++i)
    unit_inst[static_cast<std::size_t>(code.program->code[i].unit)] += code.counts[i].counts[launch_profile::executed];
}

issue_totals issue_counters::totals() const {
  issue_totals t;
  state_counts both;
  for (unsigned s = 0; s < state_count; ++s) add_state(both, s, states[s]);
  t.warp_cycles = both.cycles;
  t.warp_stalls = both.stalls;
#define HEDDLE_X(counter) t.counter = counter;
  HEDDLE_ISSUE_COUNTS(HEDDLE_X)
#undef HEDDLE_X
  return t;
}

}  // namespace heddle

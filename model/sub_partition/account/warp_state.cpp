// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/warp_state.h"

namespace heddle {

namespace {

constexpr const char* cycle_names[] = {
#define HEDDLE_X(name, ...) #name,
    HEDDLE_WARP_CYCLES(HEDDLE_X)
#undef HEDDLE_X
};

struct stall_row {
  const char* name;
  warp_cycle cycle;
  const char* colour;
};
constexpr stall_row stall_rows[] = {
#define HEDDLE_X(name, cycle, colour, sentence) {#name, warp_cycle::cycle, colour},
    HEDDLE_WARP_STALLS(HEDDLE_X)
#undef HEDDLE_X
};

}  // namespace

const char* name_of(warp_cycle s) { return cycle_names[static_cast<std::size_t>(s)]; }
const char* name_of(warp_stall s) { return stall_rows[static_cast<std::size_t>(s)].name; }
const char* colour_of(warp_stall s) { return stall_rows[static_cast<std::size_t>(s)].colour; }

void add_state(state_counts& to, unsigned state, std::uint64_t n) {
  const bool dependency = state == lg_dependency;
  const auto stall = dependency ? static_cast<std::size_t>(warp_stall::lg_throttle) : std::size_t{state};
  const warp_cycle cycle = dependency ? warp_cycle::memory_dependency : stall_rows[stall].cycle;
  to.cycles[static_cast<std::size_t>(cycle)] += n;
  to.stalls[stall] += n;
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/warp_state.h"

#include <iterator>

namespace heddle {

namespace {

constexpr const char* cycle_names[] = {
#define HEDDLE_X(name, ...) #name,
    HEDDLE_WARP_CYCLES(HEDDLE_X)
#undef HEDDLE_X
};

enum class stall_rarity : std::uint8_t { common, rare };
enum class stall_cause : std::uint8_t { itself, others };

struct stall_row {
  const char* name;
  warp_cycle cycle;
  const char* colour;
  stall_rarity rarity;
  stall_cause cause;
};
constexpr stall_row stall_rows[] = {
#define HEDDLE_X(name, cycle, colour, rarity, cause, sentence) \
  {#name, warp_cycle::cycle, colour, stall_rarity::rarity, stall_cause::cause},
    HEDDLE_WARP_STALLS(HEDDLE_X)
#undef HEDDLE_X
};

}  // namespace

const char* name_of(warp_cycle s) { return cycle_names[static_cast<std::size_t>(s)]; }
const char* name_of(warp_stall s) { return stall_rows[static_cast<std::size_t>(s)].name; }
bool find_stall(std::string_view name, warp_stall& s) {
  for (std::size_t k = 0; k < std::size(stall_rows); ++k) {
    if (name != stall_rows[k].name) continue;
    s = static_cast<warp_stall>(k);
    return true;
  }
  return false;
}
const char* colour_of(warp_stall s) { return stall_rows[static_cast<std::size_t>(s)].colour; }
bool is_rare(warp_stall s) { return stall_rows[static_cast<std::size_t>(s)].rarity == stall_rarity::rare; }
bool is_queue(warp_stall s) { return stall_rows[static_cast<std::size_t>(s)].cause == stall_cause::others; }

void add_state(state_counts& to, unsigned state, std::uint64_t n) {
  const bool dependency = state == lg_dependency;
  const auto stall = dependency ? static_cast<std::size_t>(warp_stall::lg_throttle) : std::size_t{state};
  const warp_cycle cycle = dependency ? warp_cycle::memory_dependency : stall_rows[stall].cycle;
  to.cycles[static_cast<std::size_t>(cycle)] += n;
  to.stalls[stall] += n;
}

}  // namespace heddle

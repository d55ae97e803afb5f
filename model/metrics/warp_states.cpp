// SPDX-License-Identifier: MIT
#include "heddle/metrics/warp_states.h"

namespace heddle {

void add(warp_state_counts& s, const std::array<std::uint64_t, static_cast<std::size_t>(warp_stall::count)>& stalls) {
  const auto m = [&](warp_stall w) { return stalls[static_cast<std::size_t>(w)]; };
  s.selected += m(warp_stall::selected);
  s.not_selected += m(warp_stall::not_selected);
  s.wait += m(warp_stall::wait);
  s.short_scoreboard += m(warp_stall::short_scoreboard);
  s.long_scoreboard += m(warp_stall::long_scoreboard);
  s.math_pipe_throttle += m(warp_stall::math_pipe_throttle);
  s.mio_throttle += m(warp_stall::mio_throttle);
  s.lg_throttle += m(warp_stall::lg_throttle);
  s.tex_throttle += m(warp_stall::tex_throttle);
  s.barrier += m(warp_stall::barrier);
  s.membar += m(warp_stall::membar);
  s.branch_resolving += m(warp_stall::branch_resolving);
  s.no_instruction += m(warp_stall::no_instruction);
  s.imc_miss += m(warp_stall::imc_miss);
  s.dispatch_stall += m(warp_stall::dispatch_stall);
  s.drain += m(warp_stall::drain);
  s.sleeping += m(warp_stall::sleeping);
  s.misc += m(warp_stall::misc);
}

warp_state_counts warp_states_of(const std::array<std::uint64_t, static_cast<std::size_t>(warp_stall::count)>& cycles) {
  warp_state_counts s;
  add(s, cycles);
  return s;
}

}  // namespace heddle

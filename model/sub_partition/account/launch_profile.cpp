// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/launch_profile.h"

#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

void launch_profile::begin(std::shared_ptr<const decoded_program> program) {
  if (program_ != nullptr) return;
  program_ = std::move(program);
  lines_.resize(program_->code.size());
}

instruction_profile launch_profile::at(std::size_t instruction) const {
  const auto count = [&](unsigned what) {
    const std::uint64_t high = high_.empty() ? 0 : high_[instruction][what];
    return (high << 32) + lines_[instruction].low[what];
  };
  instruction_profile p;
  p.executed = count(executed);
  for (unsigned s = 0; s < state_count; ++s) add_state(p, s, count(what(s)));
  return p;
}

void launch_profile::carry(const profile_line& from, unsigned what, std::uint64_t high) {
  if (high_.empty()) high_.resize(lines_.size());
  high_[static_cast<std::size_t>(&from - lines_.data())][what] += high;
}

void add_state(state_counts& to, unsigned state, std::uint64_t n) {
  using c = warp_cycle;
  constexpr warp_cycle cycles[state_count] = {c::selected,
                                              c::not_selected,
                                              c::exec_dependency,
                                              c::exec_dependency,
                                              c::exec_dependency,
                                              c::pipe_busy,
                                              c::memory_dependency,
                                              c::memory_throttle,
                                              c::texture,
                                              c::sync,
                                              c::other,
                                              c::inst_fetch,
                                              c::inst_fetch,
                                              c::constant_memory_dependency,
                                              c::other,
                                              c::other,
                                              c::sleeping,
                                              c::other,
                                              c::memory_dependency};
  to.cycles[static_cast<std::size_t>(cycles[state])] += n;
  to.stalls[static_cast<std::size_t>(state == lg_dependency ? static_cast<unsigned>(warp_stall::lg_throttle)
                                                            : state)] += n;
}

const char* name_of(warp_stall s) {
  constexpr const char* names[] = {"selected",
                                   "not_selected",
                                   "wait",
                                   "short_scoreboard",
                                   "long_scoreboard",
                                   "math_pipe_throttle",
                                   "mio_throttle",
                                   "lg_throttle",
                                   "tex_throttle",
                                   "barrier",
                                   "membar",
                                   "branch_resolving",
                                   "no_instruction",
                                   "imc_miss",
                                   "dispatch_stall",
                                   "drain",
                                   "sleeping",
                                   "misc"};
  return names[static_cast<unsigned>(s)];
}

const char* name_of(warp_cycle s) {
  constexpr const char* names[] = {"selected",
                                   "not_selected",
                                   "inst_fetch",
                                   "exec_dependency",
                                   "memory_dependency",
                                   "memory_throttle",
                                   "pipe_busy",
                                   "sync",
                                   "constant_memory_dependency",
                                   "texture",
                                   "sleeping",
                                   "other"};
  return names[static_cast<unsigned>(s)];
}

}  // namespace heddle

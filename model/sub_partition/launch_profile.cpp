// SPDX-License-Identifier: MIT
#include "sub_partition/launch_profile.h"

#include "sub_partition/decoded_program.h"

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
  for (unsigned c = 0; c < p.cycles.size(); ++c) p.cycles[c] = count(c);
  return p;
}

void launch_profile::carry(const line& from, unsigned what, std::uint64_t high) {
  if (high_.empty()) high_.resize(lines_.size());
  high_[static_cast<std::size_t>(&from - lines_.data())][what] += high;
}

const char* name_of(warp_cycle s) {
  constexpr const char* names[] = {"selected", "not_selected", "inst_fetch", "exec_dependency", "memory_dependency",
                                   "memory_throttle", "pipe_busy", "sync", "constant_memory_dependency", "texture",
                                   "sleeping", "other"};
  return names[static_cast<unsigned>(s)];
}

}  // namespace heddle

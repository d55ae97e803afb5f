// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/launch_profile.h"

#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

void launch_profile::begin(std::shared_ptr<const decoded_program> program) {
  if (program_ != nullptr) return;
  program_ = std::move(program);
  lines_.resize(program_->code.size());
  traffic_.resize(program_->access_count);
}

instruction_traffic& launch_profile::traffic_of(const decoded_instruction& d) {
  return traffic_[program_->accesses[static_cast<std::size_t>(&d - program_->code.data())]];
}

const instruction_traffic& launch_profile::traffic(std::size_t instruction) const {
  static const instruction_traffic none{};
  return accesses_memory(program_->code[instruction]) ? traffic_[program_->accesses[instruction]] : none;
}

instruction_profile launch_profile::at(std::size_t instruction) const {
  instruction_profile p;
  p.executed = count(instruction, executed);
  p.lanes = count(instruction, lanes);
  for (unsigned s = 0; s < state_count; ++s) add_state(p, s, count(instruction, what(s)));
  return p;
}

void launch_profile::carry(const profile_line& from, unsigned what, std::uint64_t high) {
  if (high_.empty()) high_.resize(lines_.size());
  high_[static_cast<std::size_t>(&from - lines_.data())][what] += high;
}

}  // namespace heddle

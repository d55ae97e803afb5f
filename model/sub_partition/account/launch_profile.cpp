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

instruction_profile instruction_sum::profile() const {
  instruction_profile p;
  p.executed = counts[launch_profile::executed];
  p.lanes = counts[launch_profile::lanes];
  for (unsigned s = 0; s < state_count; ++s) add_state(p, s, counts[launch_profile::what(s)]);
  return p;
}

instruction_profile launch_profile::at(std::size_t instruction) const {
  instruction_sum one;
  for (unsigned n = 0; n < one.counts.size(); ++n) one.counts[n] = count(instruction, n);
  return one.profile();
}

void launch_code::add(const launch_profile& of_sm) {
  if (of_sm.size() == 0) return;
  program = of_sm.program();
  counts.resize(of_sm.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    instruction_sum& sum = counts[i];
    for (std::size_t n = 0; n < sum.counts.size(); ++n) sum.counts[n] += of_sm.lines_[i].low[n];
    if (!of_sm.high_.empty())
      for (std::size_t n = 0; n < sum.counts.size(); ++n) sum.counts[n] += of_sm.high_[i][n] << 32;
    if (accesses_memory(program->code[i])) sum.traffic.add(of_sm.traffic(i));
  }
}

void launch_profile::carry(const profile_line& from, unsigned what, std::uint64_t high) {
  if (high_.empty()) high_.resize(lines_.size());
  high_[static_cast<std::size_t>(&from - lines_.data())][what] += high;
}

}  // namespace heddle

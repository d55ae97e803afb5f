// SPDX-License-Identifier: MIT
// The energy of a launch by instruction.
#include <array>

#include "heddle/config/error.h"
#include "heddle/energy/energy_account.h"
#include "heddle/energy/energy_prices.h"
#include "heddle/energy/power_ledger.h"
#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

namespace {

/// What an instruction's lanes use of the memory system.
struct demand {
  double global = 0;  // bytes beyond the SM: L1, TLB, interconnect, L2, device memory
  double shared = 0;  // bytes
  double constant = 0;
  double executed = 0;
};

demand demand_of(const decoded_instruction& d, double executed, double lanes) {
  demand of;
  of.executed = executed;
  if (d.unit == isa::unit::texture) of.global = lanes * 4;
  if (d.has_constant) of.constant = executed;
  if (d.kind != issue_kind::memory) return of;
  switch (d.instruction->mem_space) {
    case isa::space::shared: of.shared = lanes * d.access_bytes; break;
    case isa::space::constant: of.constant = executed; break;
    default:
      if (d.global_access) of.global = lanes * d.access_bytes;
      if (d.instruction->op == isa::opcode::ldgsts) of.shared = lanes * d.access_bytes;
      break;
  }
  return of;
}

double of_instructions(const joules_by<energy_class>& classes) {
  return classes.sum() - classes[energy_class::memory] - classes[energy_class::replays];
}

/// Divides `joules` in proportion to a member of the demands; to the executed instructions if no demand has any of it.
/// Before any has executed, only reads of code have cost something: the first instruction gets it.
void divide(std::vector<double>& to, double joules, const std::vector<demand>& demands, double demand::*by) {
  double sum = 0;
  for (const demand& d : demands) sum += d.*by;
  if (sum == 0) {
    if (by != &demand::executed) divide(to, joules, demands, &demand::executed);
    else if (!to.empty()) to.front() += joules;
    return;
  }
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += joules * (demands[i].*by / sum);
}

}  // namespace

std::vector<double> energy_account::by_instruction(std::uint32_t launch, const energy_metrics& whole) {
  std::vector<double> joules;
  std::vector<demand> demands;
  for (unsigned m = 0; m < sms_.size(); ++m) {
    if (!ran_on(launch, m)) continue;
    const launch_profile& profile = sms_[m]->profiles.at(launch);
    double slowed = 1;  // energy of the SM's instructions to that at the configured voltage
    if (ledger_ != nullptr) {
      const sums counted = counted_in_sm(launch, m);
      const double all = of_instructions(counted.classes);
      if (all > 0) slowed = of_instructions(ledger_->in_sm(launch, m, counted).classes) / all;
    }
    const std::vector<instruction_energy>& energies = instructions_of(launch, m);
    joules.resize(profile.size());
    demands.resize(profile.size());
    for (std::size_t i = 0; i < profile.size(); ++i) {
      const double executed = static_cast<double>(profile.count(i, launch_profile::executed));
      const double lanes = static_cast<double>(profile.count(i, launch_profile::lanes));
      const instruction_energy& e = energies[i];
      joules[i] +=
          slowed * joules_per_pj *
          (executed * (prices_.instruction_pj + e.unit_per_warp) + lanes * (e.unit_per_lane + e.registers_per_lane));
      const demand d = demand_of(profile.program()->code[i], executed, lanes);
      demands[i].global += d.global;
      demands[i].shared += d.shared;
      demands[i].constant += d.constant;
      demands[i].executed += d.executed;
    }
  }
  using unit = energy_unit;
  const auto of = [&whole](unit u) { return whole.by_unit[u]; };
  divide(joules, of(unit::tlb) + of(unit::l1) + of(unit::interconnect) + of(unit::l2) + of(unit::dram), demands,
         &demand::global);
  divide(joules, of(unit::shared_memory), demands, &demand::shared);
  divide(joules, of(unit::constant_cache), demands, &demand::constant);
  // Replays are of memory instructions, which cannot be told apart here.
  divide(joules, whole.by_class[energy_class::replays] + of(unit::context), demands, &demand::executed);
  return joules;
}

}  // namespace heddle

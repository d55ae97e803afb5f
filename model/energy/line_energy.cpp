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
      break;
  }
  return of;
}

/// Divides `joules` in proportion to a member of the demands; to the executed instructions if no demand has any of it.
void divide(std::vector<double>& to, double joules, const std::vector<demand>& demands, double demand::*by) {
  double sum = 0;
  for (const demand& d : demands) sum += d.*by;
  if (sum == 0) {
    if (by != &demand::executed) divide(to, joules, demands, &demand::executed);
    return;
  }
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += joules * (demands[i].*by / sum);
}

}  // namespace

std::vector<double> energy_account::by_instruction(std::uint32_t launch) {
  std::vector<double> joules;
  std::vector<demand> demands;
  sums pools = beside_sms(launch);
  for (unsigned m = 0; m < gpu_.sm_count(); ++m) {
    const launch_profile& profile = gpu_.sm_at(m).profiles.at(launch);
    sums memory;
    add_memory(memory, launch, m);
    double slowed = 1;  // energy of the SM to that at the configured voltage
    if (ledger_ != nullptr) {
      const sums counted = counted_in_sm(launch, m);
      const double all = counted.units.sum();
      if (all > 0) slowed = ledger_->in_sm(launch, m, counted).units.sum() / all;
    }
    for (double& j : memory.units.values) j *= slowed;
    pools.units.add(memory.units);
    if (profile.size() == 0) continue;
    const std::vector<instruction_energy>& energies = instructions_of(launch, m);
    joules.resize(profile.size());
    demands.resize(profile.size());
    std::uint64_t replays = 0;
    for (const auto& p : gpu_.sm_at(m).partitions)
      if (const issue_counters* c = p.account.counters.find(launch))
        replays += c->shared_replays + c->global_replays + c->constant_replays;
    pools.units[energy_unit::control] += slowed * static_cast<double>(replays) * prices_.instruction_pj * joules_per_pj;
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
  divide(joules,
         pools.units[unit::tlb] + pools.units[unit::l1] + pools.units[unit::interconnect] + pools.units[unit::l2] +
             pools.units[unit::dram],
         demands, &demand::global);
  divide(joules, pools.units[unit::shared_memory], demands, &demand::shared);
  divide(joules, pools.units[unit::constant_cache], demands, &demand::constant);
  // Replays are of memory instructions, which cannot be told apart here.
  divide(joules, pools.units[unit::control], demands, &demand::executed);
  divide(joules, contexts_of(launch), demands, &demand::executed);
  return joules;
}

}  // namespace heddle

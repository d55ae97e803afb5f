// SPDX-License-Identifier: MIT
#include "heddle/metrics/launch_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/energy/energy_account.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/memory/dram/memory_model.h"
#include "heddle/memory/l2/l2_slice.h"
#include "heddle/metrics/profiler_metrics.h"
#include "heddle/metrics/run_metrics.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/account/ended_profile.h"

namespace heddle {

namespace {

void add(lsu_counters::direction& to, const lsu_counters::direction& d) {
  to.requests += d.requests;
  to.transactions += d.transactions;
  to.requested_bytes += d.requested_bytes;
}

void add(shared_memory_counters& to, const shared_memory_counters& c) {
  to.load_transactions += c.load_transactions;
  to.store_transactions += c.store_transactions;
  to.requested_bytes += c.requested_bytes;
  to.moved_bytes += c.moved_bytes;
}

// Returns how many instructions it has executed.
std::uint64_t add_sm(launch_sums& sums, const sm& m, std::uint32_t launch) {
  const launch_profile* profile = m.profiles.find(launch);
  if (profile == nullptr) return 0;
  const std::uint64_t before = sums.issue.inst_executed;
  for (const auto& p : m.partitions)
    if (const issue_counters* c = p.account.counters.find(launch)) sums.issue.add(c->totals());
  const std::uint64_t executed = sums.issue.inst_executed - before;
  if (!profile->dropped()) sums.counts.code.add(*profile);
  const lsu_counters& lsu = m.load_store_unit.counters.at(launch);
  add(sums.global_load, lsu.global_load);
  add(sums.global_store, lsu.global_store);
  add(sums.shared, m.shared_memory.counters.at(launch));
  sums.memory.shared.add(m.shared_memory.counters.at(launch));
  sums.memory.tlb.add(m.load_store_unit.tlb.counters.at(launch));
  sums.memory.l1.add(m.l1.counters.at(launch));
  if (m.tma != nullptr) sums.memory.bulk.add(m.tma->counters.at(launch));
  if (m.cluster_port != nullptr) sums.memory.cluster.add(m.cluster_port->counters.at(launch));
  return executed;
}

/// What an SM did for a launch.
struct sm_work {
  std::uint64_t instructions, active_cycles;
};

void add_extremes(launch_sums& sums, const std::vector<sm_work>& works) {
  for (const sm_work& w : works) {
    sums.busiest_sm = std::max(sums.busiest_sm, w.instructions);
    if (w.instructions * works.size() <= sums.issue.inst_executed)
      sums.longest_even_sm = std::max(sums.longest_even_sm, w.active_cycles);
  }
}

}  // namespace

void line_counts::add(const instruction_traffic& t, std::uint64_t requested) {
#define HEDDLE_X(key, sum, unit, sentence) key += sum;
  HEDDLE_LINE_COUNTS(HEDDLE_X)
#undef HEDDLE_X
}

void cache_counts::add(const l1_counters& l1) {
#define HEDDLE_X(key, of_l1, of_l2, unit, sentence) key += of_l1;
  HEDDLE_CACHE_COUNTS(HEDDLE_X)
#undef HEDDLE_X
}

void cache_counts::add(const l2_counters& l2) {
#define HEDDLE_X(key, of_l1, of_l2, unit, sentence) key += of_l2;
  HEDDLE_CACHE_COUNTS(HEDDLE_X)
#undef HEDDLE_X
}

#define HEDDLE_X(key, sum, unit, sentence) key += sum;
void dram_counts::add(const memory_counters& channel) { HEDDLE_DRAM_COUNTS(HEDDLE_X) }
void shared_counts::add(const shared_memory_counters& shared) { HEDDLE_SHARED_COUNTS(HEDDLE_X) }
void tlb_counts::add(const tlb_counters& tlb) { HEDDLE_TLB_COUNTS(HEDDLE_X) }
void bulk_counts::add(const tma_counters& tma) { HEDDLE_BULK_COUNTS(HEDDLE_X) }
void cluster_counts::add(const cluster_counters& cluster){HEDDLE_CLUSTER_COUNTS(HEDDLE_X)}
#undef HEDDLE_X

profiler_metrics::profiler_metrics(const launch_sums& s) {
#define HEDDLE_X(type, key, formula, unit, sentence) key = formula;
  HEDDLE_PROFILER_METRICS(HEDDLE_X)
#undef HEDDLE_X
}

launch_sums sums_of(const gpu& g, std::uint32_t launch) {
  launch_sums sums;
  std::uint64_t active_cycles = 0;
  std::vector<sm_work> works;
  for (unsigned i = 0; i < g.sm_count(); ++i) {
    const std::uint64_t instructions = add_sm(sums, g.sm_at(i), launch);
    const std::uint64_t active = g.sm_at(i).resource_manager.launch_residency.at(launch).until(g.cycle());
    active_cycles += active;
    if (instructions != 0) works.push_back({instructions, active});
  }
  const grid_record& grid = g.cwd().grids()[launch];
  if (grid.ended != nullptr) sums.counts.code = grid.ended->code_of(*grid.launch->decoded);
  sums.issue.add_units(sums.counts.code);
  add_extremes(sums, works);
  sums.active_cycles = static_cast<double>(active_cycles);
  g.slice_at(0).counters().index()->visit(launch, [&](const l2_counters& l2) {
    sums.memory.l2.add(l2);
    sums.counts.beside_sms.add(l2);
    sums.busiest_atomic_unit = std::max(sums.busiest_atomic_unit, l2.atomic_cycles);
  });
  if (g.channel_count() != 0)
    g.channel_at(0).counters().index()->visit(launch, [&](const memory_counters& channel) {
      sums.memory.dram.add(channel);
      sums.counts.beside_sms.add(channel);
    });
  sums.warp_cycles.add(sums.issue.warp_cycles);
  sums.sms = g.sm_count();
  sums.max_warps = g.config().sm.max_warps;
  sums.sub_partitions = g.config().sm.sub_partitions;
  return sums;
}

const instruction_joules& joules_of(const kernel_metrics& k, energy_account& energy, const launch_counts& counts,
                                    const std::vector<const block_counts*>& of_blocks) {
  static const instruction_joules none;
  if (!k.energy.known) return none;
  const instruction_joules& joules =
      energy.by_instruction(narrow<std::uint32_t>(k.launch), counts, k.energy, of_blocks);
  double sum = 0;
  for (const double j : joules.of) sum += j;
  const double dynamic = k.energy.total_joules - k.energy.static_joules;
  invariant(joules.of.empty() || std::abs(sum - dynamic) <= 1e-9 * k.energy.total_joules,
            "the energies of a kernel's lines differ from its dynamic energy");
  return joules;
}

}  // namespace heddle

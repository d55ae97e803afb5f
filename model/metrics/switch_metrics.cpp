// SPDX-License-Identifier: MIT
#include "heddle/metrics/switch_metrics.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heddle/energy/energy_account.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/metrics/launch_sums.h"
#include "heddle/metrics/run_metrics.h"

namespace heddle {

namespace {

const char* name_of(preemption_mode mode) {
  switch (mode) {
    case preemption_mode::drain: return "drain";
    case preemption_mode::context_switch: return "switch";
    case preemption_mode::flush: return "flush";
    case preemption_mode::automatic: return "auto";
  }
  return "";
}

using switch_entries = std::map<std::pair<const context_in_flight*, std::uint32_t>, std::size_t>;

// Joins the parts of one request: the latest cycle counts; a phase that one part has not reached is 0.
void join_cycles(context_switch_metrics& m, const context_in_flight& c, bool fresh) {
  const auto last = [fresh](std::uint64_t& to, std::uint64_t cycle) {
    to = fresh || (to != 0 && cycle > to) || cycle == 0 ? cycle : to;
  };
  last(m.quiesced_cycle, c.quiesced_cycle);
  last(m.saved_cycle, c.saved_cycle);
  last(m.resumed_cycle, c.resumed_cycle);
  if (fresh || m.restore_cycle == 0 || (c.restore_cycle != 0 && c.restore_cycle < m.restore_cycle))
    m.restore_cycle = c.restore_cycle;
}

// One entry per request, SM and kernel with blocks on that SM, in the order of the blocks.
void add_switches(run_metrics& r, const context_in_flight& c, switch_entries& entries) {
  std::vector<std::size_t> joined;
  for (std::size_t n = 0; n < c.blocks.size(); ++n) {
    const switched_block& b = c.blocks[n];
    const auto [at, fresh] =
        entries.emplace(std::make_pair(c.first != nullptr ? c.first : &c, b.launch), r.context_switches.size());
    if (fresh) {
      context_switch_metrics m;
      m.sm = m.restored_sm = c.sm;
      const auto kernel =
          std::find_if(r.kernels.begin(), r.kernels.end(), [&](const auto& k) { return k.launch == b.launch; });
      m.kernel = static_cast<std::uint64_t>(kernel - r.kernels.begin());
      m.mode = name_of(c.mode);
      m.request_cycle = c.request_cycle;
      r.context_switches.push_back(std::move(m));
    }
    context_switch_metrics& m = r.context_switches[at->second];
    if (std::find(joined.begin(), joined.end(), at->second) == joined.end()) {
      joined.push_back(at->second);
      join_cycles(m, c, fresh);
      if (m.mode != name_of(c.mode)) m.mode = name_of(preemption_mode::automatic);
    }
    m.bytes_saved += b.bytes_saved;
    m.bytes_restored += b.bytes_restored;
    if (n < c.lost_cycles.size()) m.lost_block_cycles += c.lost_cycles[n];
    m.blocks.push_back(b.block);
    m.block_modes.emplace_back(name_of(c.mode));
    m.warp_ids.insert(m.warp_ids.end(), b.warp_ids.begin(), b.warp_ids.end());
    m.restored_warp_ids.insert(m.restored_warp_ids.end(), b.restored_warp_ids.begin(), b.restored_warp_ids.end());
  }
}

/// Blocks that did not drain.
std::size_t blocks_that_left(const context_switch_metrics& m) {
  return static_cast<std::size_t>(
      std::count_if(m.block_modes.begin(), m.block_modes.end(),
                    [](const std::string& mode) { return mode != name_of(preemption_mode::drain); }));
}

/// `share`: of the SM's time.
void fill_switch_energy(context_switch_metrics& m, std::uint32_t launch, const energy_account& energy, double share) {
  std::uint64_t cycles = m.lost_block_cycles / std::max<std::uint64_t>(m.blocks.size(), 1);
  if (m.saved_cycle > m.request_cycle) cycles += m.saved_cycle - m.request_cycle;
  if (m.resumed_cycle > m.restore_cycle) cycles += m.resumed_cycle - m.restore_cycle;
  m.energy = energy.of_switch(launch, m.sm, m.bytes_saved, m.bytes_restored, share * static_cast<double>(cycles));
}

void fill_switch_energies(run_metrics& r, const energy_account& energy, const switch_entries& entries) {
  std::map<const context_in_flight*, std::size_t> left;  // blocks of each request
  for (const auto& [request, entry] : entries) left[request.first] += blocks_that_left(r.context_switches[entry]);
  for (const auto& [request, entry] : entries) {
    context_switch_metrics& m = r.context_switches[entry];
    const auto blocks = static_cast<double>(blocks_that_left(m));
    fill_switch_energy(m, narrow<std::uint32_t>(r.kernels.at(m.kernel).launch), energy,
                       ratio(blocks, static_cast<double>(left[request.first])));
  }
}

/// The instructions that an SM's flush has ended, of one launch.
struct ended_work {
  std::size_t entry = 0;                            // of context_switches
  double warps = 0;                                 // warp instructions
  const executed_instructions* executed = nullptr;  // null: the SM has not counted them by instruction
};

using work_by_launch = std::map<std::uint32_t, std::vector<ended_work>>;

work_by_launch work_of_flushes(const gpu& g, const switch_entries& entries) {
  work_by_launch all;
  for (const auto& c : g.cwd().context_switches()) {
    if (c->mode != preemption_mode::flush) continue;
    std::map<std::uint32_t, ended_work> by_launch;
    for (const switched_block& b : c->blocks) by_launch[b.launch].warps += static_cast<double>(b.executed);
    for (const executed_instructions& e : c->executed) by_launch[e.launch].executed = &e;
    for (auto& [launch, work] : by_launch) {
      const auto entry = entries.find({c->first != nullptr ? c->first : c.get(), launch});
      if (entry == entries.end()) continue;
      work.entry = entry->second;
      all[launch].push_back(work);
    }
  }
  return all;
}

double executed_in(const launch_code& code) {
  std::uint64_t sum = 0;
  for (const instruction_sum& i : code.counts) sum += i.counts[launch_profile::executed];
  return static_cast<double>(sum);
}

void fill_repeated_energies(run_metrics& r, const gpu& g, energy_account& energy, const switch_entries& entries) {
  for (const auto& [launch, flushes] : work_of_flushes(g, entries)) {
    const launch_counts counts = sums_of(g, launch).counts;
    const kernel_metrics& kernel = r.kernels.at(r.context_switches[flushes[0].entry].kernel);
    std::vector<const block_counts*> of_blocks;
    for (const ended_work& work : flushes)
      if (work.executed != nullptr) of_blocks.push_back(&work.executed->counts);
    const instruction_joules& joules = joules_of(kernel, energy, counts, of_blocks);
    if (joules.of_blocks.size() != of_blocks.size()) continue;  // the energy is not known
    const double mean = ratio(kernel.energy.total_joules - kernel.energy.static_joules, executed_in(counts.code));
    auto counted = joules.of_blocks.begin();
    for (const ended_work& work : flushes)
      r.context_switches[work.entry].energy.repeated_joules +=
          work.executed != nullptr ? *counted++ : work.warps * mean;
  }
}

}  // namespace

void collect_switches(run_metrics& r, const gpu& g, energy_account& energy) {
  switch_entries entries;
  for (const auto& c : g.cwd().context_switches()) add_switches(r, *c, entries);
  if (!g.config().energy.account) return;
  fill_switch_energies(r, energy, entries);
  fill_repeated_energies(r, g, energy, entries);
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/metrics/collect.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/energy/energy_account.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/memory/dram/memory_model.h"
#include "heddle/memory/l2/l2_slice.h"
#include "heddle/metrics/code_metrics.h"
#include "heddle/metrics/launch_sums.h"
#include "heddle/metrics/switch_metrics.h"
#include "heddle/occupancy/clusters.h"
#include "heddle/occupancy/occupancy.h"
#include "heddle/sm/resource_manager.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

namespace {

void fill_source(line_metrics& line, const isa::source_map& map, const std::string& kernel) {
  using isa::source_map;
  const auto text = [&map](const source_map::place& p) { return map.files[p.file] + ":" + std::to_string(p.line); };
  const source_map::place* p = map.at(line.line);
  if (p == nullptr) return;
  line.source = text(*p);
  if (p->function != source_map::none) line.function = map.functions[p->function];
  while (p->caller != source_map::none) {
    p = &map.places[p->caller];
    line.called_at.push_back(text(*p));
    line.callers.push_back(p->function != source_map::none ? map.functions[p->function] : kernel);
  }
}

void fill_lines(kernel_metrics& k, const resident_launch& l, const launch_code& code,
                const std::vector<double>& joules) {
  std::map<std::uint32_t, line_metrics> lines;
  for (std::size_t i = 0; i < code.counts.size(); ++i) {
    const decoded_instruction& d = code.program->code[i];
    line_metrics& line = lines[l.program->code[i].line];
    if (l.recorded() && line.text.empty()) line.text = isa::text_of(*l.program, i);
    const instruction_profile all = code.counts[i].profile();
    line.executed += all.executed;
    line.thread_executed += all.lanes;
    line.warp_cycles.add(all.cycles);
    line.warp_states.add(all.stalls);
    if (!joules.empty()) line.joules += joules[i];
    if (!accesses_memory(d)) continue;
    line.accesses += all.executed;
    line.memory.add(code.counts[i].traffic, requested_bytes(d, all));
  }
  for (auto& [number, line] : lines) {
    line.line = number;
    if (l.program->source) fill_source(line, *l.program->source, k.name);
    k.lines.push_back(line);
  }
}

void fill_instructions(kernel_metrics& k, const issue_totals& c) {
  const auto n = [&](isa::unit u) { return c.unit_inst[static_cast<std::size_t>(u)]; };
  k.instructions.fp32 = n(isa::unit::fp32);
  k.instructions.integer = n(isa::unit::integer);
  k.instructions.fp64 = n(isa::unit::fp64);
  k.instructions.half = n(isa::unit::half);
  k.instructions.sfu = n(isa::unit::sfu);
  k.instructions.ldst = n(isa::unit::ldst);
  k.instructions.branch = n(isa::unit::branch);
  k.instructions.tensor = n(isa::unit::tensor);
  k.instructions.texture = n(isa::unit::texture);
}

// Causes of warp slots that the launch left empty, as counted by the SMs; docs/use/metrics.md defines each cause.
void fill_lost_occupancy(kernel_metrics& k, const gpu& g, const resident_launch& l, std::uint64_t blocks_simulated) {
  const double full = static_cast<double>(k.client_sms) * k.blocks_per_sm;
  const double block_warps = l.warps_per_block();
  const double blocks = static_cast<double>(blocks_simulated), last_wave = std::fmod(blocks, full);
  double ended = 0, latency = 0, others = 0, empty = 0, never = 0, block_cycles = 0, active = 0;
  for (unsigned i = 0; i < g.sm_count(); ++i) {
    const launch_occupancy& o = g.sm_at(i).resource_manager.occupancy.of(l.launch_id);
    ended += static_cast<double>(o.ended);
    latency += static_cast<double>(o.filled_later);
    others += static_cast<double>(o.beside_others);
    empty += static_cast<double>(o.waiting);
    block_cycles += static_cast<double>(o.block_cycles);
    active += static_cast<double>(o.active_cycles);
    if (o.arrived < o.most_blocks)
      never += std::min(static_cast<double>(o.waiting),
                        (o.most_blocks - o.arrived) * block_warps * static_cast<double>(o.active_cycles));
  }
  double few = 0, partial = 0;
  if (blocks < full) few = never;
  else if (last_wave != 0) partial = std::min(empty, (full - last_wave) * block_warps * block_cycles / blocks);
  const double slots = active * g.config().sm.max_warps;
  k.waves = ratio(static_cast<double>(k.blocks), full);
  k.lost.imbalance_within_blocks = ratio(ended, slots);
  k.lost.imbalance_between_blocks = ratio(empty - few - partial, slots);
  k.lost.too_few_blocks = ratio(few, slots);
  k.lost.partial_last_wave = ratio(partial, slots);
  k.lost.launch_latency = ratio(latency, slots);
  k.lost.other_kernels = ratio(others, slots);
}

void fill_occupancy_over_time(kernel_metrics& k, const gpu& g, std::uint32_t launch) {
  time_series live(128), active(128);
  for (unsigned i = 0; i < g.sm_count(); ++i) {
    const launch_occupancy& o = g.sm_at(i).resource_manager.occupancy.of(launch);
    live.add(o.live_over_time);
    active.add(o.active_over_time);
  }
  // An SM is active whenever it has warps, so both series have the same steps.
  const double step = static_cast<double>(active.step_cycles());
  k.over_time.from_cycle = active.first_step() * active.step_cycles();
  k.over_time.step_cycles = active.step_cycles();
  k.over_time.achieved_occupancy.reserve(active.sums().size());
  k.over_time.active_sms.reserve(active.sums().size());
  for (std::size_t n = 0; n < active.sums().size(); ++n) {
    const double cycles = static_cast<double>(active.sums()[n]);
    k.over_time.achieved_occupancy.push_back(
        ratio(static_cast<double>(live.sums().at(n)), cycles * g.config().sm.max_warps));
    k.over_time.active_sms.push_back(cycles / step);
  }
}

void fill_shape(kernel_metrics& k, const gpu& g, const resident_launch& l) {
  k.name = l.program->kernel;
  k.launch = k.number = l.launch_id;
  k.source = l.program->file;
  k.file = k.source.substr(k.source.find_last_of('/') + 1);
  k.stream = l.stream;
  k.client = l.client;
  k.client_sms = sms_of(g.config(), {l.client_sms, l.partition});
  const simt::dim3 dims[2] = {l.grid, l.block};
  std::uint32_t* to[2] = {k.grid, k.block};
  for (unsigned i = 0; i < 2; ++i) {
    to[i][0] = dims[i].x;
    to[i][1] = dims[i].y;
    to[i][2] = dims[i].z;
  }
}

void fill_details_of(kernel_metrics& k, const resident_launch& l, energy_account& energy, const launch_counts& counts,
                     detail how_much, program_texts& texts) {
  if (how_much == detail::none) return;
  const std::vector<double>& joules = joules_of(k, energy, counts).of;
  fill_lines(k, l, counts.code, joules);
  if (how_much == detail::instructions) fill_code(k, l, counts.code, joules, texts);
}

kernel_metrics kernel_of(const gpu& g, const grid_record& grid, energy_account& energy, detail how_much,
                         program_texts& texts) {
  const resident_launch& l = *grid.launch;
  kernel_metrics k;
  fill_shape(k, g, l);
  k.registers_per_thread = l.program->registers;
  k.shared_bytes_per_block = l.shared_bytes;
  k.blocks = grid.blocks();
  k.start_cycle = grid.start_cycle;
  k.end_cycle = grid.finished ? grid.end_cycle : std::max(g.cycle(), grid.start_cycle);
  k.cycles = k.end_cycle - k.start_cycle;
  k.ended = grid.finished && !grid.terminated && !grid.abandoned;
  if (!k.ended && grid.abandoned) k.failed = "a reset has ended it";
  if (grid.terminated) k.failed = "the host has ended it";
  if (grid.sampler != nullptr && k.ended)
    k.sampled = {true,
                 grid.sample.simulated_blocks,
                 grid.sample.cycles,
                 grid.sample.error,
                 block_sample::confidence,
                 grid.sample.steady_from};
  const occupancy_result o = compute(g.config(), demand_of(l));
  k.theoretical_occupancy = o.theoretical_occupancy;
  k.blocks_per_sm = o.blocks_per_sm;
  k.occupancy_limiters = o.limiters;
  k.programmatic = l.programmatic;
  if (grid.prerequisite_cycle > grid.start_cycle && grid.dispatched != 0)
    k.early_cycles = grid.prerequisite_cycle - grid.start_cycle;
  if (l.explicit_cluster) {
    k.cluster[0] = l.cluster.x;
    k.cluster[1] = l.cluster.y;
    k.cluster[2] = l.cluster.z;
    k.max_active_clusters =
        max_active_clusters(g.config(), o.blocks_per_sm, l.cluster_blocks(), {l.client_sms, l.partition});
  }
  k.launch_cycles = k.start_cycle + g.config().cwd.launch_latency_cycles - std::min(k.start_cycle, grid.ready_cycle);
  fill_lost_occupancy(k, g, l, k.blocks - grid.left_out);
  fill_occupancy_over_time(k, g, l.launch_id);
  launch_sums s = sums_of(g, l.launch_id);
  s.cycles = static_cast<double>(k.cycles);
  k.warps = std::min(s.issue.warps, k.blocks * l.warps_per_block());  // warps of flushed blocks started twice
  k.warp_cycles = s.warp_cycles;
  k.warp_states.add(s.issue.warp_stalls);
  fill_instructions(k, s.issue);
  k.metrics = profiler_metrics(s);
  k.memory = s.memory;
  k.busiest_atomic_unit = s.busiest_atomic_unit;
  const std::uint64_t sms = std::min<std::uint64_t>(k.client_sms, std::max<std::uint64_t>(k.blocks, 1));
  if (4 * s.busiest_sm * sms > 5 * s.issue.inst_executed) {
    k.busiest_sm = s.busiest_sm;
    k.longest_even_sm = s.longest_even_sm;
  }
  if (l.program->spill_bytes != 0)
    k.spills = {l.program->spill_bytes, l.program->register_limit, l.program->register_limit_of};
  if (g.config().energy.account) k.energy = energy.of_launch(l.launch_id, s.counts, k.start_cycle, k.end_cycle);
  fill_details_of(k, l, energy, s.counts, how_much, texts);
  if (grid.ended != nullptr) energy.forget(l.launch_id);
  return k;
}

sm_metrics sm_of(const gpu& g, unsigned i) {
  const sm& s = g.sm_at(i);
  sm_metrics m;
  m.sm = i;
  m.active_cycles = s.resource_manager.sm_residency.until(g.cycle());
  for (const auto& p : s.partitions) {
    sub_partition_metrics& states = m.sub_partitions.emplace_back();
    for (std::uint32_t launch = 0; launch < p.account.counters.end(); ++launch) {
      if (p.account.counters.find(launch) == nullptr) continue;
      const issue_totals c = p.account.counters.find(launch)->totals();
      states.warp_cycles.add(c.warp_cycles);
      states.warp_states.add(c.warp_stalls);
      m.active_warps += c.active_warp_cycles;
      m.inst_executed += c.inst_executed;
      m.inst_issued += c.inst_issued1 + 2 * c.inst_issued2;
      m.warps += c.warps;
    }
  }
  for (unsigned warp = 0; warp < g.config().sm.max_warps && g.config().sub_partition.states_by_warp; ++warp) {
    const state_counts& c = s.partitions[warp % s.partitions.size()].account.states_by_slot[warp / s.partitions.size()];
    warp_slot_metrics slot;
    slot.warp_id = warp;
    slot.warp_cycles.add(c.cycles);
    slot.warp_states.add(c.stalls);
    if (slot.warp_cycles.active != 0) m.warp_slots.push_back(slot);
  }
  const auto& residencies = s.resource_manager.launch_residency;
  for (std::uint32_t launch = 0; launch < residencies.end(); ++launch) m.blocks += residencies.at(launch).blocks;
  m.achieved_occupancy =
      ratio(static_cast<double>(m.active_warps), static_cast<double>(m.active_cycles) * g.config().sm.max_warps);
  m.ipc = ratio(static_cast<double>(m.inst_executed), static_cast<double>(m.active_cycles));
  const time_series& warps = s.resource_manager.occupancy.over_time();
  m.occupancy_step_cycles = warps.step_cycles();
  for (const std::uint64_t n : warps.sums())
    m.occupancy_over_time.push_back(
        ratio(static_cast<double>(n), static_cast<double>(m.occupancy_step_cycles) * g.config().sm.max_warps));
  return m;
}

std::vector<const energy_metrics*> energies_of(const std::vector<kernel_metrics>& kernels) {
  std::vector<const energy_metrics*> energies;
  energies.reserve(kernels.size());
  for (const kernel_metrics& k : kernels) energies.push_back(&k.energy);
  return energies;
}

}  // namespace

run_metrics collect(const gpu& g, const power_ledger* ledger, detail how_much) {
  energy_account energy(g, ledger);
  return collect(g, energy, how_much);
}

run_metrics collect(const gpu& g, energy_account& energy, detail how_much) {
  run_metrics r;
  program_texts texts;
  r.config = g.config();
  const auto& grids = g.cwd().grids();
  r.kernels.reserve(grids.size());
  cycle_t first = never, last = 0;
  for (const grid_record& grid : grids) {
    first = std::min(first, grid.doorbell_cycle);
    last = std::max(last, grid.finished ? grid.end_cycle : g.cycle());
  }
  r.cycles = grids.empty() ? 0 : last - first;
  // Kernels whose blocks were all dispatched, in that order; after a fault, also the others that started.
  for (const std::uint32_t id : g.cwd().dispatch_order())
    r.kernels.push_back(kernel_of(g, grids[id], energy, how_much, texts));
  for (const grid_record& grid : grids)
    if (grid.dispatched != 0 && grid.waiting() != 0) r.kernels.push_back(kernel_of(g, grid, energy, how_much, texts));
  collect_switches(r, g, energy);
  r.preempt_requests = {g.cwd().preempt_requests().asked, g.cwd().preempt_requests().found_no_blocks};
  for (unsigned i = 0; i < g.sm_count(); ++i) r.sms.push_back(sm_of(g, i));
  if (g.config().energy.account) r.energy = energy.of_run(energies_of(r.kernels), g.cycle());
  return r;
}

void fill_details(kernel_metrics& k, const gpu& g, energy_account& energy, detail how_much, program_texts& texts) {
  const grid_record& grid = g.cwd().grids().at(k.number);
  kernel_metrics numbered = k;
  numbered.launch = k.number;
  fill_details_of(numbered, *grid.launch, energy, sums_of(g, k.number).counts, how_much, texts);
  if (grid.ended != nullptr) energy.forget(k.number);
  k.lines = std::move(numbered.lines);
  k.code = std::move(numbered.code);
  k.flops = numbered.flops;
}

sampled_metrics sampled_of(const run_metrics& m) {
  sampled_metrics all;
  all.cycles = static_cast<double>(m.cycles);
  double squares = 0;
  for (const kernel_metrics& k : m.kernels) {
    if (!k.sampled.known) continue;
    all.known = true;
    all.confidence = k.sampled.confidence;
    all.cycles += k.sampled.cycles - static_cast<double>(k.cycles);
    squares += std::pow(k.sampled.error * k.sampled.cycles, 2);
  }
  all.error = ratio(std::sqrt(squares), all.cycles);
  return all;
}

run_progress progress_of(const gpu& g) {
  run_progress p;
  p.blocks_done = g.cwd().blocks_completed();
  p.blocks_launched = g.cwd().blocks_submitted();
  for (const grid_record& grid : g.cwd().grids())
    p.grids.push_back({grid.launch->launch_id, grid.blocks(), grid.dispatched, grid.completed, grid.start_cycle,
                       grid.block_cycles, 0, grid.finished});
  for (unsigned i = 0; i < g.sm_count(); ++i)
    for (const auto& part : g.sm_at(i).partitions)
      for (std::uint32_t launch = 0; launch < part.account.counters.end(); ++launch)
        if (const issue_counters* c = part.account.counters.find(launch))
          p.grids[launch].warp_instructions += c->inst_executed;
  for (const grid_progress& grid : p.grids) p.warp_instructions += grid.warp_instructions;
  return p;
}

}  // namespace heddle

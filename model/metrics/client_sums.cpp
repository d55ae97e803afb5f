// SPDX-License-Identifier: MIT
#include "heddle/metrics/client_sums.h"

#include <algorithm>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/metrics/launch_sums.h"
#include "heddle/metrics/run_metrics.h"
#include "heddle/sm/resource_manager.h"
#include "heddle/sm/sm.h"

namespace heddle {

namespace {

using cycle_range = std::pair<std::uint64_t, std::uint64_t>;

std::uint64_t cycles_in_any(std::vector<cycle_range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t sum = 0, until = 0;
  for (const auto& [begin, end] : ranges) {
    if (end > until) sum += end - std::max(begin, until);
    until = std::max(until, end);
  }
  return sum;
}

void add_launch(client_metrics& c, const kernel_metrics& k, const grid_record& grid, const gpu& g) {
  const bool first = c.launches++ == 0;
  c.doorbell_cycle = first ? grid.doorbell_cycle : std::min<std::uint64_t>(c.doorbell_cycle, grid.doorbell_cycle);
  c.start_cycle = first ? k.start_cycle : std::min(c.start_cycle, k.start_cycle);
  c.end_cycle = std::max(c.end_cycle, k.end_cycle);
  for (unsigned i = 0; i < g.sm_count(); ++i)
    c.sm_cycles += g.sm_at(i).resource_manager.occupancy.of(grid.launch->launch_id).active_cycles;
  c.blocks += k.blocks;
  c.inst_executed += k.metrics.inst_executed;
  c.l2_accesses += k.memory.l2.accesses;
  c.l2_hits += k.memory.l2.hits;
  c.dram_read_bytes += k.memory.dram.read_bytes;
  c.dram_write_bytes += k.memory.dram.write_bytes;
  c.launch_cycles += k.launch_cycles;
}

}  // namespace

void add_clients(run_metrics& m, const gpu& g, std::vector<client_metrics> clients) {
  std::vector<std::vector<cycle_range>> active(clients.size());
  for (kernel_metrics& k : m.kernels) {
    if (k.client == 0) continue;
    client_metrics& c = clients.at(k.client - 1);
    k.client_name = c.name;
    add_launch(c, k, g.cwd().grids().at(k.launch), g);
    active[k.client - 1].emplace_back(k.start_cycle, k.end_cycle);
  }
  for (std::size_t n = 0; n < clients.size(); ++n) {
    client_metrics& c = clients[n];
    c.cycles = c.end_cycle - c.doorbell_cycle;
    c.active_cycles = cycles_in_any(std::move(active[n]));
    c.ipc = ratio(c.inst_executed, c.active_cycles);
    const auto use = g.cwd().clients().find(static_cast<std::uint32_t>(n + 1));
    if (use != g.cwd().clients().end()) c.most_sms = use->second.most_sms;
  }
  m.clients = std::move(clients);
}

}  // namespace heddle

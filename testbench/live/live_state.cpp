// SPDX-License-Identifier: MIT
#include "testbench/live/live_state.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/memory/dram/memory_model.h"
#include "heddle/memory/l2/l2_cache.h"
#include "heddle/memory/noc/interconnect.h"
#include "heddle/metrics/client_metrics.h"
#include "heddle/metrics/collect.h"
#include "heddle/observe/warps_now.h"
#include "heddle/sm/sm.h"
#include "testbench/live/warp_places.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;
constexpr std::size_t most_launches = 50, most_places = 20;

void add_client(json& launch, std::uint32_t number, const std::vector<client_metrics>& clients) {
  if (number == 0 || number > clients.size()) return;
  const client_metrics& c = clients[number - 1];
  launch["client"] = c.name;
  if (!c.slice.empty()) launch["slice"] = c.slice;
}

json launches_of(const gpu& g, const std::vector<client_metrics>& clients) {
  json all = json::array();
  for (const grid_record& grid : g.cwd().grids()) {
    if (grid.finished || all.size() == most_launches) continue;
    const auto& l = *grid.launch;
    all.push_back({{"launch", l.launch_id},
                   {"kernel", l.program->kernel},
                   {"state", grid.resident ? "running" : "waiting"},
                   {"blocks", grid.blocks()},
                   {"dispatched", grid.dispatched},
                   {"completed", grid.completed},
                   {"start_cycle", grid.dispatched != 0 ? json(grid.start_cycle) : json()}});
    add_client(all.back(), l.client, clients);
  }
  return all;
}

unsigned blocks_of(const sm& s) {
  unsigned blocks = 0;
  for (unsigned slot = 0; slot < s.resource_manager.cta_slots(); ++slot)
    blocks += s.resource_manager.block(slot).transaction != nullptr ? 1 : 0;
  return blocks;
}

json level_of(const queue_level& queue) { return {{"used", queue.used}, {"capacity", queue.capacity}}; }

json memory_of(const gpu& g) {
  json l1 = json::array(), l2 = json::array(), dram = json::array();
  std::size_t requests = 0, responses = 0;
  for (unsigned k = 0; k < g.sm_count(); ++k) {
    const l1_cache& cache = g.sm_at(k).l1;
    l1.push_back({{"misses", level_of(cache.misses_now())}, {"requests", level_of(cache.requests_now())}});
    requests += g.crossbar().requests().waiting(k);
  }
  for (unsigned k = 0; k < g.slice_count(); ++k) {
    const l2_cache::queues now = g.slice_at(k).queues_now();
    l2.push_back(
        {{"requests", now.requests}, {"misses", level_of(now.misses)}, {"to_memory", level_of(now.to_memory)}});
    responses += g.crossbar().responses().waiting(k);
  }
  for (unsigned k = 0; k < g.channel_count(); ++k)
    dram.push_back({{"requests", level_of(g.channel_at(k).requests_now())}});
  return {{"l1", std::move(l1)},
          {"interconnect", {{"requests", requests}, {"responses", responses}}},
          {"l2", std::move(l2)},
          {"dram", std::move(dram)}};
}

}  // namespace

json state_of(const gpu& g, const std::vector<client_metrics>& clients) {
  const run_progress p = progress_of(g);
  json sms = json::array(), states = json::object(), places = json::array();
  for (unsigned k = 0; k < g.sm_count(); ++k) {
    const sm& s = g.sm_at(k);
    unsigned issuing = 0, eligible = 0, stalled = 0;
    for (const warp_now& w : warps_now(s, g.cycle())) {
      json& count = states[name_of(w.state)];
      count = count.is_null() ? 1 : count.get<unsigned>() + 1;
      ++(w.state == warp_stall::selected ? issuing : w.state == warp_stall::not_selected ? eligible : stalled);
    }
    sms.push_back({{"blocks", blocks_of(s)},
                   {"warps", issuing + eligible + stalled},
                   {"issuing", issuing},
                   {"eligible", eligible},
                   {"stalled", stalled}});
  }
  for (const auto& [place, warps] : places_of_warps(g))
    if (places.size() < most_places) places.push_back({{"place", place}, {"warps", warps}});
  return {{"cycle", g.cycle()},
          {"blocks_done", p.blocks_done},
          {"blocks", p.blocks_launched},
          {"warp_instructions", p.warp_instructions},
          {"launches", launches_of(g, clients)},
          {"sms", std::move(sms)},
          {"memory", memory_of(g)},
          {"warp_states", std::move(states)},
          {"places", std::move(places)}};
}

json state_of_sm(const gpu& g, unsigned number) {
  if (number >= g.sm_count()) return {};
  const sm& s = g.sm_at(number);
  const auto partitions = static_cast<unsigned>(s.partitions.size());
  json warps = json::array();
  for (const warp_now& w : warps_now(s, g.cycle())) {
    const auto& block = w.slot->state.block->index;
    warps.push_back({{"warp", w.warp},
                     {"sub_partition", w.warp % partitions},
                     {"kernel", w.slot->launch->program->kernel},
                     {"block", {block.x, block.y, block.z}},
                     {"warp_in_block", w.slot->state.warp_in_block},
                     {"state", name_of(w.state)},
                     {"places", places_of_warp(s, w.warp)}});
  }
  return {{"sm", number}, {"cycle", g.cycle()}, {"warps", std::move(warps)}};
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
// Blocks of a cluster access each other's shared memory and wait for each other, so they leave their SMs together and
// return together: no block is saved before all are quiet, and none runs before all are back.
#include <algorithm>

#include "heddle/gpu/cwd/context_switcher.h"

namespace heddle {

// Its number in the grid, x fastest.
std::uint64_t context_switcher::cluster_of(const block_in_flight& b) {
  const simt::dim3& size = b.launch->cluster;
  const simt::dim3& grid = b.launch->grid;
  const std::uint64_t x = b.block % grid.x, y = b.block / grid.x % grid.y, z = b.block / grid.x / grid.y;
  return (z / size.z * (grid.y / size.y) + y / size.y) * (grid.x / size.x) + x / size.x;
}

// The blocks of its cluster that are on SMs, itself included.
std::vector<block_in_flight*> context_switcher::cluster_blocks_of(const block_in_flight& b) const {
  std::vector<block_in_flight*> all;
  const bool alone = b.launch->cluster_blocks() == 1;
  for (const auto& other : blocks_.all())
    if (other->resident && other->launch == b.launch &&
        (alone ? other.get() == &b : cluster_of(*other) == cluster_of(b)))
      all.push_back(other.get());
  return all;
}

// The SM's next preemption saves blocks of clusters.
bool context_switcher::leaves_with_clusters(unsigned sm) const {
  const sm_account& a = accounts_[sm];
  if (a.requests.empty()) return false;
  const context_in_flight& c = *a.requests.front();
  const bool saves =
      c.mode == preemption_mode::context_switch ||
      (c.mode == preemption_mode::automatic && config_.context.preemption == choice::preemption::instruction);
  return saves && &c != a.drains_next && c.leaving.empty() && holds_cluster(sm);
}

// An SM that is asked gives up all its blocks, and other SMs those that are in clusters with them. Returns false while
// one of these SMs is busy with another switch.
bool context_switcher::begin_group(unsigned sm, cycle_t cycle) {
  std::map<unsigned, std::vector<const cta_transaction*>> leaving;
  std::vector<unsigned> asked{sm};
  for (std::size_t k = 0; k < asked.size(); ++k)
    for (const auto& b : blocks_.all()) {
      if (!b->resident || b->sm != asked[k]) continue;
      for (const block_in_flight* other : cluster_blocks_of(*b)) {
        std::vector<const cta_transaction*>& there = leaving[other->sm];
        if (std::find(there.begin(), there.end(), other) == there.end()) there.push_back(other);
        if (std::find(asked.begin(), asked.end(), other->sm) == asked.end() && leaves_with_clusters(other->sm))
          asked.push_back(other->sm);
      }
    }
  for (const auto& [at, blocks] : leaving)
    if (accounts_[at].switching || accounts_[at].draining != nullptr) return false;
  const context_in_flight& first = *accounts_[sm].requests.front();
  const std::uint32_t number = ++groups_begun_;
  for (auto& [at, blocks] : leaving) {
    context_in_flight* c = nullptr;
    if (std::find(asked.begin(), asked.end(), at) != asked.end()) {
      c = accounts_[at].requests.front();
      accounts_[at].requests.pop_front();
    } else {
      auto fresh = std::make_unique<context_in_flight>();
      c = fresh.get();
      c->sm = at;
      c->request_cycle = first.request_cycle;
      c->resume_after = first.resume_after;
      c->waits_for = first.waits_for;
      c->leaving = std::move(blocks);
      c->joined = true;
      contexts_.push_back(std::move(fresh));
      ++switches_;
    }
    c->mode = preemption_mode::context_switch;
    join_group(number, *c);
    send(*c, cta_phase::preempt, cycle);
  }
  return true;
}

void context_switcher::join_group(std::uint32_t number, context_in_flight& c) {
  c.group = number;
  c.together = true;
  groups_[number].members.push_back(&c);
}

void context_switcher::leave_group(context_in_flight& c) {
  const auto g = groups_.find(c.group);
  if (g == groups_.end()) return;
  std::vector<context_in_flight*>& members = g->second.members;
  members.erase(std::find(members.begin(), members.end(), &c));
  if (members.empty()) groups_.erase(g);
}

// When the blocks are quiet, the last message about a barrier of their cluster may be in flight.
void context_switcher::ready(context_in_flight& c, cycle_t cycle) {
  switch_group& g = groups_.at(c.group);
  if (++g.ready != g.members.size()) return;
  g.ready = 0;
  g.proceeds = c.saved ? cycle : cycle + config_.cluster.barrier_latency_cycles;
}

void context_switcher::drive_groups(cycle_t cycle) {
  for (auto& [number, g] : groups_) {
    if (g.proceeds > cycle) continue;
    g.proceeds = never;
    for (context_in_flight* c : g.members) send(*c, cta_phase::proceed, cycle);
  }
}

// All blocks have left and are to return, and their SMs take part in no other switch.
bool context_switcher::is_due(const switch_group& g, cycle_t cycle) const {
  return std::all_of(g.members.begin(), g.members.end(), [&](const context_in_flight* c) {
    const sm_account& a = accounts_[c->sm];
    return c->saved && !a.switching && a.draining == nullptr && a.requests.empty() && wanted_back(a, *c, cycle);
  });
}

bool context_switcher::fits(const switch_group& g) const {
  return std::all_of(g.members.begin(), g.members.end(), [this](const context_in_flight* c) { return fits(*c); });
}

bool context_switcher::holds_cluster(unsigned sm) const {
  return std::any_of(blocks_.all().begin(), blocks_.all().end(),
                     [&](const auto& b) { return b->resident && b->sm == sm && b->launch->cluster_blocks() > 1; });
}

cycle_t context_switcher::next_group(cycle_t cycle) const {
  cycle_t at = never;
  for (const auto& [number, g] : groups_) at = std::min(at, std::max(g.proceeds, cycle + 1));
  return at;
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/schedule/dependence_graph.h"

#include <algorithm>

#include "heddle/isa/op_class.h"

namespace heddle::ptx {

namespace {

using isa::access_kind;
using isa::opcode;
using isa::space;

access_kind access_of(const machine_instruction& i) { return isa::info(i.base.op).access; }

/// Reads or writes memory that others may write (constants and textures are not).
bool is_memory(const machine_instruction& i) {
  const access_kind access = access_of(i);
  return access != access_kind::none && access != access_kind::constant_load && access != access_kind::sample;
}

/// All accesses but loads of constants.
bool keeps_its_side_of_a_barrier(const machine_instruction& i) {
  const access_kind access = access_of(i);
  return (access != access_kind::none && access != access_kind::constant_load) || has_side_effect(i);
}

bool reads_only(const machine_instruction& i) {
  const access_kind access = access_of(i);
  return (access == access_kind::load || access == access_kind::matrix_load) &&
         i.base.cache != isa::cache_op::volatile_;
}

/// A load or a store whose address is its base and offset.
bool is_plain(const machine_instruction& i) {
  const access_kind access = access_of(i);
  return (access == access_kind::load || access == access_kind::store) && i.base.cache != isa::cache_op::volatile_;
}

bool is_copy(const machine_instruction& i) { return access_of(i) == access_kind::copy; }

bool is_surface(const machine_instruction& i) {
  return access_of(i) == access_kind::surface_load || access_of(i) == access_kind::surface_store;
}

unsigned access_bytes(const machine_instruction& i) { return std::max(isa::size_of(i.base.type), 1u); }

/// Whether two memory accesses must keep their order, `a` before `b`.
bool may_meet(const machine_instruction& a, const machine_instruction& b) {
  if (reads_only(a) && reads_only(b)) return false;
  if (is_copy(b)) return !reads_only(a) || a.base.mem_space != space::global;
  if (is_copy(a)) return !reads_only(b) && b.base.mem_space != space::shared;
  if (a.base.cache == isa::cache_op::nc || b.base.cache == isa::cache_op::nc) return false;
  if (a.base.mem_space != b.base.mem_space && a.base.mem_space != space::generic && b.base.mem_space != space::generic)
    return false;
  if (is_surface(a) || is_surface(b)) return a.base.mem_space != space::shared && b.base.mem_space != space::shared;
  const virtual_operand &x = a.src[0], &y = b.src[0];
  if (!is_plain(a) || !is_plain(b) || a.base.mem_space != b.base.mem_space || x.reg != y.reg || x.part != y.part ||
      x.kind != y.kind || x.is_immediate())
    return true;
  // The same base register: a redefinition in between is a dependence of its own.
  return a.base.offset < b.base.offset + access_bytes(b) && b.base.offset < a.base.offset + access_bytes(a);
}

/// Cycles from issue to a dependent instruction, roughly: they rank, they do not time.
unsigned latency_of(const machine_instruction& i) {
  const isa::op_class timing = isa::info(i.base.op).timing;
  const bool on_chip = access_of(i) == access_kind::constant_load || i.base.mem_space == space::shared;
  return timing == isa::op_class::load_store && on_chip ? 25 : isa::info(timing).schedule_latency;
}

/// Whether other instructions are issued while the result comes.
bool has_late_result(const machine_instruction& i) { return i.base.dst_count > 0 && latency_of(i) > 10; }

bool live_at(const segments& s, std::uint32_t position) {
  auto it =
      std::upper_bound(s.begin(), s.end(), position, [](std::uint32_t at, const segment& t) { return at < t.end; });
  return it != s.end() && it->begin <= position;
}

}  // namespace

bool reads_clock(const machine_instruction& i) {
  return isa::info(i.base.op).effect == isa::effect_kind::if_clock && has_side_effect(i);
}

bool is_block_barrier(const machine_instruction& i) {
  return i.base.op == opcode::bar && !i.guarded() && i.pdst[0] == no_register;
}

// The slow path of a division or root is a branch of the chip's program: its compiler moves nothing across it.
bool stays_in_place(const machine_instruction& i) {
  if (i.base.op == opcode::assist) return true;
  if (is_block_barrier(i)) return false;
  return isa::info(i.base.op).effect == isa::effect_kind::order || reads_clock(i);
}

graph_builder::graph_builder(const std::vector<virtual_register>& registers, const unit_map& units,
                             const std::vector<segments>& live)
    : registers_(registers), units_(units), live_(live), last_write_(units.count(), none), readers_(units.count()) {}

dependence_graph graph_builder::build(const std::vector<machine_instruction>& code, std::size_t begin, std::size_t end,
                                      std::uint32_t position) {
  dependence_graph graph;
  const std::uint32_t count = static_cast<std::uint32_t>(end - begin);
  const machine_instruction* const region = code.data() + begin;
  graph.nodes.resize(count);
  graph.ends_of_uses.assign(1, 0);
  graph.ends_of_definitions.assign(1, 0);
  links_.clear();
  for (std::uint32_t k = 0; k < count; ++k) {
    const machine_instruction& i = region[k];
    graph.nodes[k].constant = i.base.op == opcode::mov && !i.src[0].is_reg() && i.guard.reg == no_register;
    add_uses(graph, region, k);
  }
  add_orders(graph, region, count);
  for (const auto& u : graph.uses) touched_.push_back(u.unit);
  touched_.insert(touched_.end(), graph.definitions.begin(), graph.definitions.end());
  add_lives(graph, position + static_cast<std::uint32_t>(begin), position + static_cast<std::uint32_t>(end));

  graph.ends_of_edges.assign(count + 1, 0);
  for (const link& l : links_) ++graph.ends_of_edges[l.from + 1];
  for (std::uint32_t k = 0; k < count; ++k) graph.ends_of_edges[k + 1] += graph.ends_of_edges[k];
  std::vector<std::size_t> next = graph.ends_of_edges;
  graph.edges.resize(links_.size());
  for (const link& l : links_) graph.edges[next[l.from]++] = {l.to, l.latency};

  for (std::uint32_t k = count; k-- > 0;) {
    dependence_graph::node& now = graph.nodes[k];
    now.path = latency_of(region[k]);
    now.leads_to_late = has_late_result(region[k]);
    for (const auto& s : graph.successors(k)) {
      now.path = std::max(now.path, s.latency + graph.nodes[s.to].path);
      now.leads_to_late =
          now.leads_to_late ||
          (s.latency > 1 && graph.nodes[s.to].leads_to_late);  // after a cycle come those that do not need its result
    }
  }
  return graph;
}

void graph_builder::connect(dependence_graph& graph, std::uint32_t from, std::uint32_t to, unsigned latency) {
  if (from == to) return;
  links_.push_back(
      {static_cast<std::uint16_t>(from), static_cast<std::uint16_t>(to), static_cast<std::uint16_t>(latency)});
  ++graph.nodes[to].waits;
  if (graph.nodes[from].constant) ++graph.nodes[to].constants;
}

/// What instruction `k` reads and writes, and for whose results it waits.
void graph_builder::add_uses(dependence_graph& graph, const machine_instruction* region, std::uint32_t k) {
  const machine_instruction& i = region[k];
  const auto begin = static_cast<std::ptrdiff_t>(graph.uses.size());
  for_each_use(i, registers_, units_, [&](std::uint32_t u) {
    if (last_write_[u] != none) connect(graph, last_write_[u], k, latency_of(region[last_write_[u]]));
    readers_[u].push_back(k);
    const auto same =
        std::find_if(graph.uses.begin() + begin, graph.uses.end(), [u](const auto& x) { return x.unit == u; });
    if (same != graph.uses.end()) ++same->times;
    else graph.uses.push_back({u, 1});
  });
  for_each_definition(i, units_, [&](std::uint32_t u) {
    if (last_write_[u] != none) connect(graph, last_write_[u], k, 1);
    for (const std::uint32_t r : readers_[u]) connect(graph, r, k, 0);
    readers_[u].clear();
    last_write_[u] = k;
    graph.definitions.push_back(u);
  });
  graph.ends_of_uses.push_back(graph.uses.size());
  graph.ends_of_definitions.push_back(graph.definitions.size());
}

/// Barriers, and accesses that may meet in memory.
void graph_builder::add_orders(dependence_graph& graph, const machine_instruction* region, std::uint32_t count) {
  std::vector<std::uint32_t> memory, before_barrier;
  std::uint32_t barrier = none, one_before = none;
  for (std::uint32_t k = 0; k < count; ++k) {
    const machine_instruction& i = region[k];
    if (one_before != none) connect(graph, one_before, k, 1);  // across one barrier at most
    if (keeps_its_side_of_a_barrier(i) && barrier != none) connect(graph, barrier, k, 1);
    if (!is_block_barrier(i)) {
      before_barrier.push_back(k);
    } else {
      for (const std::uint32_t j : before_barrier) connect(graph, j, k, 1);
      before_barrier.clear();
      memory.clear();
      one_before = barrier;
      barrier = k;
    }
    if (!is_memory(i)) continue;
    for (std::size_t j = memory.size(); j-- > 0 && k - memory[j] <= schedule_window;)
      if (may_meet(region[memory[j]], i)) connect(graph, memory[j], k, 1);
    memory.push_back(k);
  }
}

/// Which of the units that the region touches live before it and after it. Forgets the region.
void graph_builder::add_lives(dependence_graph& graph, std::uint32_t first, std::uint32_t last) {
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const std::uint32_t u : touched_) {
    if (live_at(live_[u], 2 * first)) graph.live_before.push_back(u);
    if (live_at(live_[u], 2 * last)) graph.live_after.push_back(u);
    last_write_[u] = none;
    readers_[u].clear();
  }
  touched_.clear();
}

}  // namespace heddle::ptx

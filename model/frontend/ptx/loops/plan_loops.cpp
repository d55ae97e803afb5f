// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/loops/plan_loops.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/loops/trip_count.h"

namespace heddle::ptx {

namespace {

using isa::compare;
using isa::dtype;

constexpr std::size_t most_growth = 65'536;  // machine instructions that unrolling adds to a kernel
constexpr unsigned longest_path = 16;        // blocks before a loop that are searched for a counter's start
constexpr std::int64_t largest_step = 1 << 20;

bool is_counted(dtype t) {
  return !isa::is_float(t) && t != dtype::pred && (isa::size_of(t) == 4 || isa::size_of(t) == 8);
}

bool stays_alone(const hir_instruction& h) {
  switch (info(h.op).alone) {
    case alone_kind::no: return false;
    case alone_kind::yes: return true;
    case alone_kind::if_warp: return h.m.uniform || h.m.sub >= 2;  // of a warp; reductions
    case alone_kind::if_call: return h.return_block != isa::no_target;
  }
  return false;
}

/// A register's value relative to the start of the trip: that of `reg` then, plus `offset`.
struct relative {
  std::uint32_t reg = no_register;  // no_register: unknown
  std::uint64_t offset = 0;
};

class planner {
 public:
  planner(const hir_function& f, const std::vector<block_cost>& costs)
      : f_(f),
        costs_(costs),
        writers_(f.registers.size(), 0),
        graph_(flow(f)),
        predecessors_(reversed(graph_)),
        dom_(graph_, 0) {
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
      for (const hir_instruction& h : f.blocks[b].code)
        for (const value& d : h.dst)
          if (d.is_reg()) ++writers_[d.reg];
  }

  std::vector<loop_plan> run() {
    loops_ = natural_loops(graph_, 0);
    nest();
    find_writes();
    std::vector<loop_plan> plans;
    std::size_t growth = 0;
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      loop_plan p;
      p.header = loops_[k].header;
      p.latch = loops_[k].latches.back();
      p.refusal = plan(k, p);
      if (p.refusal == unroll_refusal::none) {
        const std::size_t bodies = p.copies + p.behind + (p.trips == 0 ? 1 : 0), added = (bodies - 1) * size_;
        if (growth + added > most_growth) p.refusal = unroll_refusal::budget;
        else growth += added;
      }
      plans.push_back(std::move(p));
    }
    return plans;
  }

 private:
  static flow_graph flow(const hir_function& f) {
    flow_graph g;
    for (const hir_block& b : f.blocks) g.push_back(b.successors);
    return g;
  }

  /// The innermost loop around each block, and the loop around each loop.
  void nest() {
    std::vector<std::size_t> order(loops_.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return loops_[a].nodes.size() < loops_[b].nodes.size(); });
    innermost_.assign(graph_.size(), no_loop);
    around_.assign(loops_.size(), no_loop);
    has_inner_.assign(loops_.size(), 0);
    std::vector<std::size_t> outermost(graph_.size(), no_loop);  // found so far
    for (const std::size_t k : order) {
      for (const std::uint32_t b : loops_[k].nodes) {
        if (innermost_[b] == no_loop) innermost_[b] = k;
        else if (around_[outermost[b]] == no_loop) around_[outermost[b]] = k, has_inner_[k] = 1;
        outermost[b] = k;
      }
    }
  }

  /// Where registers are written that are written twice.
  void find_writes() {
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b)
      for (const hir_instruction& h : f_.blocks[b].code)
        for (const value& d : h.dst) {
          if (!d.is_reg() || writers_[d.reg] != 2) continue;
          const bool moves = h.op == ptx_op::mov && h.src.size() == 1 && h.src[0].is_immediate();
          writes_[d.reg].push_back({b, h.guard.what == value::kind::none, moves, moves ? h.src[0].bits : 0});
        }
  }

  /// What a counter has before each entry of the loop: what the one other instruction that writes it writes, or the
  /// last one on the only way to the loop.
  void find_start(std::size_t k, loop_counter& c) const {
    const std::uint32_t header = loops_[k].header;
    const auto found = writes_.find(c.reg);
    if (found == writes_.end()) return find_initial_value(header, c);
    for (const write& w : found->second) {
      if (w.block == header || !w.always || !dom_.dominates(w.block, header)) continue;
      std::size_t at = innermost_[w.block];
      while (at != no_loop && at != around_[k]) at = around_[at];
      if (at != around_[k]) return;
      c.renewed = true;
      c.starts_known = w.immediate;
      c.start = w.bits;
    }
  }

  void find_initial_value(std::uint32_t header, loop_counter& c) const {
    std::uint32_t before = no_node;
    for (const std::uint32_t b : predecessors_[header])
      if (!dom_.dominates(header, b)) before = before == no_node ? b : header;
    for (unsigned step = 0; step < longest_path && before != no_node && before != header; ++step) {
      const std::vector<hir_instruction>& code = f_.blocks[before].code;
      for (auto h = code.rbegin(); h != code.rend(); ++h)
        for (const value& d : h->dst) {
          if (!d.is_reg() || d.reg != c.reg) continue;
          c.renewed = h->guard.what == value::kind::none;
          c.starts_known = c.renewed && h->op == ptx_op::mov && h->src.size() == 1 && h->src[0].is_immediate();
          if (c.starts_known) c.start = h->src[0].bits;
          return;
        }
      before = predecessors_[before].size() == 1 ? predecessors_[before][0] : no_node;
    }
  }

  unroll_refusal plan(std::size_t k, loop_plan& p) {
    const natural_loop& l = loops_[k];
    if (f_.rolled || f_.blocks[l.header].rolled) return unroll_refusal::asked;
    if (has_inner_[k]) return unroll_refusal::nested;
    if (!stands_together(l)) return unroll_refusal::shape;
    size_ = 0;
    bool leaves = false;
    for (std::uint32_t b = p.header; b <= p.latch; ++b) {
      size_ += costs_[b].instructions;
      if (costs_[b].calls) return unroll_refusal::contents;
      for (const hir_instruction& h : f_.blocks[b].code) {
        if (stays_alone(h)) return unroll_refusal::contents;
        leaves = leaves || h.op == ptx_op::exit || h.op == ptx_op::trap;
      }
      for (const std::uint32_t s : graph_[b]) leaves = leaves || (b != p.latch && (s < p.header || s > p.latch));
    }
    if (!find_counters(k, p) || !find_test(p)) return unroll_refusal::counter;
    p.trips = count_trips(p);
    return choose(p, leaves);
  }

  /// One after the other from the header to the one block that goes back, each leading to later ones.
  bool stands_together(const natural_loop& l) const {
    if (l.latches.size() != 1 || l.header == 0) return false;
    const std::uint32_t latch = l.latches[0];
    if (latch < l.header || l.nodes.size() != latch - l.header + 1 || l.nodes.back() != latch) return false;
    for (const std::uint32_t b : l.nodes)
      for (const std::uint32_t s : graph_[b])
        if (b != latch && s <= b) return false;
    const hir_block& last = f_.blocks[latch];
    if (last.code.empty() || last.code.back().op != ptx_op::bra || last.successors.size() != 2) return false;
    const hir_instruction& back = last.code.back();
    return back.guard.is_reg() && back.target == l.header && latch + 1 < f_.blocks.size() &&
           std::count(last.successors.begin(), last.successors.end(), latch + 1) == 1;
  }

  relative at_now(std::uint32_t reg) const {
    const auto found = now_.find(reg);
    return found == now_.end() ? relative{reg, 0} : found->second;
  }

  /// Follows sums and copies through the blocks that every trip passes.
  bool find_counters(std::size_t k, loop_plan& p) {
    now_.clear();
    for (const std::uint32_t b : loops_[k].nodes) {
      const bool always = dom_.dominates(b, p.latch);
      for (const hir_instruction& h : f_.blocks[b].code) {
        const bool one = h.dst.size() == 1 && h.dst[0].is_reg() && h.guard.what == value::kind::none && always;
        relative result;
        if (one && is_counted(h.m.type) && counter_words(h.m.type) == f_.registers[h.dst[0].reg].words &&
            !h.m.carry_out && !h.m.saturate) {
          if (h.op == ptx_op::mov && h.src.size() == 1 && h.src[0].is_reg()) result = at_now(h.src[0].reg);
          if (h.op == ptx_op::add && h.src.size() == 2 && h.src[0].is_reg() && h.src[1].is_immediate()) {
            result = at_now(h.src[0].reg);
            result.offset += h.src[1].bits;
          }
        }
        for (const value& d : h.dst)
          if (d.is_reg()) now_[d.reg] = result;
      }
    }
    for (const auto& [reg, value] : now_) {
      if (value.reg != reg) continue;
      loop_counter c;
      c.reg = reg;
      c.step = signed_value(value.offset, f_.registers[reg].words);
      if (c.step == 0 || std::abs(c.step) > largest_step) continue;
      find_start(k, c);
      p.counters.push_back(c);
    }
    std::sort(p.counters.begin(), p.counters.end(), [](const auto& a, const auto& b) { return a.reg < b.reg; });
    return !p.counters.empty();
  }

  /// The comparison of the branch back: of a counter after its sum, with what the loop does not change.
  bool find_test(loop_plan& p) const {
    const std::vector<hir_instruction>& code = f_.blocks[p.latch].code;
    const value& guard = code.back().guard;
    const hir_instruction* test = nullptr;
    std::size_t at = 0;
    for (std::size_t k = 0; k + 1 < code.size(); ++k)
      for (const value& d : code[k].dst)
        if (d.is_reg() && d.reg == guard.reg) test = &code[k], at = k;
    if (!test || test->op != ptx_op::setp || test->guard.what != value::kind::none || test->m.combines ||
        test->dst.size() != 1 || test->src.size() != 2 || !is_counted(test->m.type))
      return false;
    for (unsigned side = 0; side < 2; ++side) {
      const value &counted = test->src[side], &bound = test->src[1 - side];
      if (!counted.is_reg() || (bound.is_reg() && now_.count(bound.reg) != 0) || counted.negate || bound.negate)
        continue;
      const relative after = at_now(counted.reg);
      const auto found =
          std::find_if(p.counters.begin(), p.counters.end(), [&](const auto& c) { return c.reg == after.reg; });
      if (found == p.counters.end() || counter_words(test->m.type) != f_.registers[found->reg].words) continue;
      if (signed_value(after.offset, counter_words(test->m.type)) != found->step) continue;
      if (!unchanged_from(code, at, counted.reg)) continue;
      p.tested = *found;
      p.bound = bound;
      p.type = test->m.type;
      if (test->m.unsigned_compare) p.type = isa::size_of(p.type) == 8 ? dtype::u64 : dtype::u32;
      p.going_on = side == 0 ? test->m.cmp : mirrored(test->m.cmp);
      if (guard.negate) p.going_on = opposite(p.going_on);
      return p.going_on != compare::eq && p.going_on != compare::f;
    }
    return false;
  }

  /// What is known of a register at the end of the block was so at the comparison, too.
  static bool unchanged_from(const std::vector<hir_instruction>& code, std::size_t at, std::uint32_t reg) {
    for (std::size_t k = at; k < code.size(); ++k)
      for (const value& d : code[k].dst)
        if (d.is_reg() && d.reg == reg) return false;
    return true;
  }

  unroll_refusal choose(loop_plan& p, bool leaves) const {
    const double size = static_cast<double>(std::max<std::size_t>(size_, 1));
    std::size_t counting = 1 + counter_words(p.type);  // the branch and the comparison
    for (const loop_counter& c : p.counters) counting += f_.registers[c.reg].words;
    counting = std::min(counting, size_);
    const std::uint64_t others = size_ - counting + 1;
    if (p.trips == 0) {
      if (leaves) return unroll_refusal::exits;
      if (7 * size_ > 356) return unroll_refusal::size;
      if (!is_monotonic(p)) return unroll_refusal::counter;
      p.copies = 4;
      return unroll_refusal::none;
    }
    const double share = static_cast<double>(counting) / size;
    if (static_cast<double>(p.trips) * static_cast<double>(others) <= 340 + 7200 * share * std::sqrt(share)) {
      p.copies = static_cast<unsigned>(p.trips);
      return unroll_refusal::none;
    }
    if (leaves) return unroll_refusal::exits;
    if (p.header != p.latch) return unroll_refusal::size;
    for (std::uint64_t n = 349 / others; n > 1; --n) {
      if (n > p.trips / 2 || (n + p.trips % n) * others >= 350) continue;
      p.copies = static_cast<unsigned>(n);
      p.behind = static_cast<unsigned>(p.trips % n);
      return unroll_refusal::none;
    }
    return unroll_refusal::size;
  }

  /// The counter comes nearer to its bound, and the numbers a few steps around the bound are of its type, if it is
  /// known.
  static bool is_monotonic(const loop_plan& p) {
    if (p.going_on == compare::ne) return true;
    const bool up = p.going_on == compare::lt || p.going_on == compare::le;
    if (up != (p.tested.step > 0)) return false;
    if (!p.bound.is_immediate()) return true;
    const bool wide = isa::size_of(p.type) == 8, has_sign = isa::is_signed(p.type);
    const std::uint64_t sign = std::uint64_t{1} << (wide ? 63 : 31), mask = sign | (sign - 1);
    const std::uint64_t bound = (has_sign ? p.bound.bits ^ sign : p.bound.bits) & mask;  // in the order of the type
    const std::uint64_t around = 4 * static_cast<std::uint64_t>(std::abs(p.tested.step));
    return bound >= around && mask - bound >= around;
  }

  static constexpr std::size_t no_loop = ~std::size_t{0};

  struct write {
    std::uint32_t block;
    bool always, immediate;
    std::uint64_t bits;
  };

  const hir_function& f_;
  const std::vector<block_cost>& costs_;
  std::vector<std::uint32_t> writers_;
  std::unordered_map<std::uint32_t, std::vector<write>> writes_;
  const flow_graph graph_, predecessors_;
  const dominance dom_;
  std::vector<natural_loop> loops_;
  std::vector<std::size_t> innermost_, around_;
  std::vector<char> has_inner_;
  std::unordered_map<std::uint32_t, relative> now_;
  std::size_t size_ = 0;
};

}  // namespace

std::vector<loop_plan> plan_loops(const hir_function& f, const std::vector<block_cost>& costs) {
  return planner(f, costs).run();
}

}  // namespace heddle::ptx

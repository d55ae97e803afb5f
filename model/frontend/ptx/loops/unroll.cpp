// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/loops/unroll.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/loops/body_names.h"
#include "heddle/frontend/ptx/loops/plan_loops.h"

namespace heddle::ptx {

namespace {

using isa::compare;
using isa::dtype;

class unroller {
 public:
  unroller(hir_function& f, std::vector<loop_plan> plans)
      : f_(f), plans_(std::move(plans)), reads_(count_reads(f)), dom_(flow(f), 0), place_(f.blocks.size(), no_node) {}

  /// Returns the registers that hold counters at the start of bodies.
  std::vector<std::uint32_t> run() {
    std::vector<const loop_plan*> at(f_.blocks.size(), nullptr);
    for (const loop_plan& p : plans_)
      if (p.refusal == unroll_refusal::none) at[p.header] = &p;
    for (std::uint32_t b = 0; b < f_.blocks.size();) {
      if (at[b]) {
        unroll(*at[b]);
        b = at[b]->latch + 1;
      } else {
        put(b, std::move(f_.blocks[b]));
        ++b;
      }
    }
    for (hir_block& b : made_) {
      for (std::uint32_t& s : b.successors) s = place_[s];
      for (hir_instruction& h : b.code) {
        if (h.op != ptx_op::bra) continue;
        h.target = place_[h.target];
        if (h.return_block != isa::no_target) h.return_block = place_[h.return_block];
      }
    }
    f_.blocks = std::move(made_);
    return std::move(counters_);
  }

 private:
  static flow_graph flow(const hir_function& f) {
    flow_graph g;
    for (const hir_block& b : f.blocks) g.push_back(b.successors);
    return g;
  }

  // Branches and successors name labels, those of the original blocks by their number, until all blocks are placed.
  std::uint32_t new_label() {
    place_.push_back(no_node);
    return static_cast<std::uint32_t>(place_.size() - 1);
  }

  void put(std::uint32_t label, hir_block b) {
    place_[label] = static_cast<std::uint32_t>(made_.size());
    made_.push_back(std::move(b));
  }

  void unroll(const loop_plan& p) {
    const hir_instruction back = f_.blocks[p.latch].code.back();
    body_names names(f_, p, dom_, reads_);
    const std::uint32_t behind = p.latch + 1;
    if (p.fully()) return bodies(p, names, p.copies, true, true, p.header, behind, nullptr);
    const std::uint32_t loop = p.trips == 0 ? new_label() : p.header;
    const std::uint32_t after = p.trips == 0 || p.behind != 0 ? new_label() : behind;
    if (p.trips != 0) {
      hir_instruction test =
          compare_of(back, compare::ne, p.type, register_value(p.tested.reg), immediate_value(end_of_loop(p)));
      bodies(p, names, p.copies, false, false, loop, after, &back, {std::move(test)});
      if (p.behind != 0) bodies(p, names, p.behind, false, true, after, behind, nullptr);
      return;
    }
    const std::uint32_t rest = new_label();
    test_enough(p, back, loop, rest);
    bodies(p, names, p.copies, false, false, loop, after, &back, enough(p, back));
    // Whether trips remain.
    hir_block ask;
    ask.code.push_back(compare_of(back, p.going_on, p.type, register_value(p.tested.reg), p.bound));
    ask.code.push_back(branch_like(back, ask.code.back().dst[0], true, behind));
    ask.successors = {behind, rest};
    put(after, std::move(ask));
    for (std::uint32_t b = p.header; b <= p.latch; ++b) {
      hir_block copy = std::move(f_.blocks[b]);
      if (b == p.latch) {
        copy.code.back().target = rest;
        for (std::uint32_t& s : copy.successors) s = s == p.header ? rest : s;
      }
      copy.rolled = copy.rolled || b == p.header;
      put(b == p.header ? rest : b, std::move(copy));
    }
  }

  /// Bodies one after the other, the first at `label`. `back`: the branch that closes the loop, under the predicate
  /// that `test` computes last; null: there is none. Then `behind`.
  void bodies(const loop_plan& p, body_names& names, unsigned count, bool first, bool last, std::uint32_t label,
              std::uint32_t behind, const hir_instruction* back, std::vector<hir_instruction> test = {}) {
    std::vector<hir_instruction> start = names.start(count, first, last, f_.blocks[p.header].code.front());
    for (const hir_instruction& move : start) counters_.push_back(move.dst[0].reg);
    std::vector<std::uint32_t> labels(p.latch - p.header + 1);
    std::uint32_t next = label;
    for (unsigned k = 0; k < count; ++k, names.next_body()) {
      labels[0] = next;
      for (std::size_t b = 1; b < labels.size(); ++b) labels[b] = new_label();
      next = k + 1 < count ? new_label() : behind;
      for (std::uint32_t b = p.header; b <= p.latch; ++b) {
        const hir_block& from = f_.blocks[b];
        hir_block to;
        const auto renamed = [&](std::uint32_t s) { return s > p.header && s <= p.latch ? labels[s - p.header] : s; };
        if (k == 0 && b == p.header) {
          to.code = std::exchange(start, {});
          to.rolled = true;
        }
        const std::size_t n = from.code.size() - (b == p.latch ? 1 : 0);
        for (std::uint32_t i = 0; i < n; ++i) {
          to.code.push_back(names.copy(b, i));
          if (to.code.back().op == ptx_op::bra) to.code.back().target = renamed(to.code.back().target);
        }
        if (b != p.latch) {
          for (const std::uint32_t s : from.successors) to.successors.push_back(renamed(s));
        } else if (k + 1 < count || !back) {
          to.successors = {next};
        } else {
          std::move(test.begin(), test.end(), std::back_inserter(to.code));
          to.code.push_back(branch_like(*back, to.code.back().dst[0], false, label));
          to.successors = {label, behind};
        }
        put(labels[b - p.header], std::move(to));
      }
    }
  }

  value predicate() {
    const std::uint32_t p = f_.new_register(0, 1);
    f_.registers[p].type = dtype::pred;
    return register_value(p);
  }

  hir_instruction compare_of(const hir_instruction& like, compare c, dtype t, const value& a, const value& b) {
    hir_instruction h = in_place_of(like, ptx_op::setp, t, {predicate()}, {a, b});
    h.m.cmp = c;
    return h;
  }

  static hir_instruction branch_like(const hir_instruction& back, value predicate, bool negate, std::uint32_t target) {
    hir_instruction h = back;
    h.guard = predicate;
    h.guard.negate = negate;
    h.target = target;
    return h;
  }

  static dtype unsigned_of(dtype t) { return isa::size_of(t) == 8 ? dtype::u64 : dtype::u32; }

  value new_value(dtype t) {
    const unsigned words = isa::size_of(t) / 4;
    const std::uint32_t r = f_.new_register(words, 32 * words);
    f_.registers[r].type = t;
    return register_value(r);
  }

  static std::uint64_t end_of_loop(const loop_plan& p) {
    const std::uint64_t end =
        p.tested.start + static_cast<std::uint64_t>(p.tested.step) * (p.trips / p.copies * p.copies);
    return isa::size_of(p.type) == 8 ? end : end & 0xffffffffu;
  }

  /// `steps` times the step, as an operand of the counter's width.
  static value stride(const loop_plan& p, std::int64_t steps) {
    const auto v = static_cast<std::uint64_t>(steps * p.tested.step);
    return immediate_value(isa::size_of(p.type) == 8 ? v : v & 0xffffffffu);
  }

  static std::int64_t before_last(const loop_plan& p) { return std::int64_t{p.copies} - 1; }

  /// `a` moved by some steps of the counter.
  value moved(std::vector<hir_instruction>& code, const hir_instruction& back, const loop_plan& p, const value& a,
              std::int64_t steps) {
    const value to = new_value(p.type);
    code.push_back(in_place_of(back, ptx_op::add, p.type, {to}, {a, stride(p, steps)}));
    return to;
  }

  /// Before the loop: branches to `rest` if fewer trips remain than the loop has bodies. Where the counter is compared
  /// by order, it also does so if a sum of a few steps and the bound leaves the range of the type: the loop's own test
  /// may then rely on that.
  void test_enough(const loop_plan& p, const hir_instruction& back, std::uint32_t loop, std::uint32_t rest) {
    hir_block b;
    if (p.going_on == compare::ne) {
      b.code = enough(p, back);
    } else {
      const bool up = p.tested.step > 0;
      const value limit = moved(b.code, back, p, p.bound, -before_last(p));
      value holds;
      const auto also = [&](compare c, const value& a, const value& with) {
        b.code.push_back(compare_of(back, c, p.type, a, with));
        hir_instruction& test = b.code.back();
        if (holds.is_reg()) {
          test.m.combines = true;
          test.m.bop = isa::bool_op::and_;
          test.src.push_back(holds);
        }
        holds = test.dst[0];
      };
      if (!p.bound.is_immediate()) {  // plan_loops() has checked others
        also(up ? compare::lt : compare::gt, limit, p.bound);
        also(up ? compare::gt : compare::lt, moved(b.code, back, p, p.bound, p.copies), p.bound);
      }
      also(p.going_on, register_value(p.tested.reg), limit);
    }
    b.code.push_back(branch_like(back, b.code.back().dst[0], true, rest));
    b.successors = {rest, loop};
    put(p.header, std::move(b));
  }

  /// Whether as many trips remain as the loop has bodies: the counter reaches its bound in as many steps less one at
  /// the earliest.
  std::vector<hir_instruction> enough(const loop_plan& p, const hir_instruction& back) {
    std::vector<hir_instruction> code;
    const value counter = register_value(p.tested.reg);
    if (p.going_on != compare::ne) {
      const value last = moved(code, back, p, counter, before_last(p));
      code.push_back(compare_of(back, p.going_on, p.type, last, p.bound));
      return code;
    }
    const dtype t = unsigned_of(p.type);
    const bool up = p.tested.step > 0;
    const value distance = new_value(t);
    code.push_back(in_place_of(back, ptx_op::sub, t, {distance}, {up ? p.bound : counter, up ? counter : p.bound}));
    const auto steps = static_cast<std::uint64_t>(std::abs(p.tested.step) * before_last(p));
    code.push_back(compare_of(back, compare::gt, t, distance, immediate_value(steps)));
    return code;
  }

  hir_function& f_;
  const std::vector<loop_plan> plans_;
  const std::vector<std::uint32_t> reads_;
  const dominance dom_;
  std::vector<std::uint32_t> place_;  // of each label
  std::vector<hir_block> made_;
  std::vector<std::uint32_t> counters_;
};

}  // namespace

unrolling unroll_loops(hir_function& f, const std::vector<block_cost>& costs) {
  std::vector<loop_plan> plans = plan_loops(f, costs);
  unrolling made;
  bool fully = false, nested = false;
  for (const loop_plan& p : plans) {
    made.changed = made.changed || p.refusal == unroll_refusal::none;
    fully = fully || (p.refusal == unroll_refusal::none && p.fully());
    nested = nested || p.refusal == unroll_refusal::nested;
  }
  made.again = fully && nested;
  if (made.changed) made.counters = unroller(f, std::move(plans)).run();
  return made;
}

void join_counters(hir_function& f, const std::vector<std::uint32_t>& counters) {
  std::unordered_map<std::uint32_t, std::uint32_t> left;  // reads of each that are not found yet
  {
    const std::vector<std::uint32_t> reads = count_reads(f);
    for (const std::uint32_t c : counters) left[c] = reads[c];
  }
  for (hir_block& b : f.blocks) {
    std::unordered_map<std::uint32_t, std::uint32_t> copy_of;  // a counter, and the only copy that is right now
    std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::size_t>> found;  // counter, place of its copy
    for (std::size_t k = 0; k < b.code.size(); ++k) {
      const hir_instruction& h = b.code[k];
      for (const value& v : h.src)
        if (v.is_reg() && found.count(v.reg) != 0 && copy_of[found[v.reg].first] == v.reg) --left[v.reg];
      for (const value& d : h.dst)
        if (d.is_reg()) copy_of.erase(d.reg);
      if (h.op != ptx_op::mov || h.dst.size() != 1 || !h.src[0].is_reg() || left.count(h.dst[0].reg) == 0) continue;
      copy_of[h.src[0].reg] = h.dst[0].reg;
      found[h.dst[0].reg] = {h.src[0].reg, k};
    }
    for (hir_instruction& h : b.code)
      for (value& v : h.src)
        if (v.is_reg() && found.count(v.reg) != 0 && left[v.reg] == 0) v.reg = found[v.reg].first;
    b.code.erase(std::remove_if(b.code.begin(), b.code.end(),
                                [&](const hir_instruction& h) {
                                  return h.op == ptx_op::mov && h.dst.size() == 1 && h.dst[0].is_reg() &&
                                         found.count(h.dst[0].reg) != 0 && left[h.dst[0].reg] == 0;
                                }),
                 b.code.end());
  }
}

}  // namespace heddle::ptx

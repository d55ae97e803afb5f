// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/if_convert.h"

#include <algorithm>

#include "heddle/frontend/ptx/hir/control_flow.h"

namespace heddle::ptx {

namespace {

// The longest guarded sequence. A guarded instruction takes an issue slot even if its guard is false; a branch costs
// about as many slots.
constexpr std::size_t longest = 6;
constexpr unsigned most_predicates = 1;  // written in one guarded sequence: there are seven predicate registers

bool is_plain(const hir_instruction& h) { return info(h.op).guardable && !h.m.carry_out; }

bool is_access(const hir_instruction& h) {
  return (h.op == ptx_op::ld || h.op == ptx_op::st) && h.m.cache != isa::cache_op::volatile_ &&
         h.m.order == modifiers::order_kind::weak;
}

class converter {
 public:
  converter(hir_function& f, bool hopper_code) : f_(f), hopper_(hopper_code) {}

  void run() {
    count_predecessors();
    removed_.assign(f_.blocks.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t b = static_cast<std::uint32_t>(f_.blocks.size()); b-- > 0;)
        if (!removed_[b] && predecessors_[b] + (b == 0) > 0)
          changed = convert(b) || join(b) || (hopper_ && (invert(b) || leave(b))) || changed;
    }
    renumber();
  }

 private:
  void count_predecessors() {
    predecessors_.assign(f_.blocks.size(), 0);
    for (const hir_block& b : f_.blocks)
      for (std::uint32_t s : b.successors) ++predecessors_[s];
    for (const hir_block& b : f_.blocks)  // a return point must remain a separate block
      if (const hir_instruction* branch = branch_of(b); branch && branch->return_block != isa::no_target)
        ++predecessors_[branch->return_block];
  }

  [[nodiscard]] std::uint32_t next_of(std::uint32_t b) const {
    do ++b;
    while (b < removed_.size() && removed_[b]);
    return b < removed_.size() ? b : no_node;
  }

  static const hir_instruction* branch_of(const hir_block& b) {
    return !b.code.empty() && b.code.back().op == ptx_op::bra ? &b.code.back() : nullptr;
  }

  [[nodiscard]] bool only_exits(std::uint32_t b) const {
    const hir_block& x = f_.blocks[b];
    return x.code.size() == 1 && x.code[0].op == ptx_op::exit && x.code[0].guard.what == value::kind::none;
  }

  /// The only successor of the block, if its code (without a branch at the end) can be guarded by `guard`; else
  /// no_node.
  [[nodiscard]] std::uint32_t guarded_region(std::uint32_t b, const value& guard) const {
    const hir_block& x = f_.blocks[b];
    if (predecessors_[b] != 1 || x.successors.size() != 1) return no_node;
    const hir_instruction* branch = branch_of(x);
    const std::size_t n = x.code.size() - (branch ? 1 : 0);
    if (n > longest || (branch && (branch->guard.what != value::kind::none || branch->return_block != isa::no_target)))
      return no_node;
    unsigned predicates = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const hir_instruction& h = x.code[k];
      if (h.guard.what != value::kind::none || !(is_plain(h) || is_access(h))) return no_node;
      for (const value& d : h.dst) {
        if (!d.is_reg()) continue;
        if (d.reg == guard.reg) return no_node;
        predicates += f_.registers[d.reg].words == 0;
      }
    }
    return predicates <= most_predicates ? x.successors[0] : no_node;
  }

  /// A value that is read only within the sequence is computed without a guard, which shortens its live range and has
  /// no side effect.
  [[nodiscard]] bool stays_inside(const hir_instruction& h) const {
    return is_plain(h) && std::all_of(h.dst.begin(), h.dst.end(),
                                      [&](const value& d) { return d.is_reg() && f_.registers[d.reg].single; });
  }

  void append_guarded(std::vector<hir_instruction>& code, std::uint32_t from, const value& guard, bool negate) {
    std::vector<hir_instruction>& moved = f_.blocks[from].code;
    for (hir_instruction& h : moved) {
      if (h.op == ptx_op::bra) break;
      if (!stays_inside(h)) {
        h.guard = guard;
        h.guard.negate = negate;
        // The result of a guarded load is read only by instructions that have no effect if the guard is false.
        if (h.op == ptx_op::ld)
          for (const value& d : h.dst)
            if (d.is_reg() && f_.registers[d.reg].single) f_.registers[d.reg].whole = true;
      }
      code.push_back(std::move(h));
    }
    moved.clear();
    f_.blocks[from].successors.clear();
    predecessors_[from] = 0;
    removed_[from] = true;
  }

  /// Replaces the branch at the end of `b` by a fall-through or jump to `to`.
  void continue_at(std::uint32_t b, std::uint32_t to) {
    hir_block& x = f_.blocks[b];
    x.successors = {to};
    if (next_of(b) == to) return;
    hir_instruction jump = branch_;
    jump.guard = {};
    jump.m.uniform = false;
    jump.target = to;
    x.code.push_back(std::move(jump));
  }

  bool convert(std::uint32_t b) {
    hir_block& x = f_.blocks[b];
    const hir_instruction* branch = branch_of(x);
    if (!branch || branch->guard.what != value::kind::reg || x.successors.size() != 2) return false;
    const std::uint32_t taken = branch->target, next = next_of(b);
    if (next == no_node || taken == next || std::count(x.successors.begin(), x.successors.end(), next) == 0)
      return false;
    const value guard = branch->guard;
    if (only_exits(taken)) return leave_by(b, taken, next, guard.negate);
    if (only_exits(next) && next_of(next) == taken) return leave_by(b, next, taken, !guard.negate);
    const std::uint32_t behind = guarded_region(next, guard);
    if (behind == no_node) return false;
    if (behind == taken) {
      take_branch(x);
      append_guarded(x.code, next, guard, !guard.negate);
      --predecessors_[taken];
      continue_at(b, taken);
      return true;
    }
    // Two alternative sequences that rejoin; their total length is limited as for a single one.
    if (guarded_region(taken, guard) != behind || taken == b ||
        f_.blocks[taken].code.size() + f_.blocks[next].code.size() > longest + 2)
      return false;
    take_branch(x);
    append_guarded(x.code, next, guard, !guard.negate);
    append_guarded(x.code, taken, guard, guard.negate);
    --predecessors_[behind];
    continue_at(b, behind);
    return true;
  }

  void take_branch(hir_block& x) {
    branch_ = std::move(x.code.back());
    x.code.pop_back();
  }

  /// Replaces a branch to the exiting block `end` by a guarded exit.
  bool leave_by(std::uint32_t b, std::uint32_t end, std::uint32_t otherwise, bool negate) {
    hir_block& x = f_.blocks[b];
    hir_instruction leave = f_.blocks[end].code[0];
    leave.guard = x.code.back().guard;
    leave.guard.negate = negate;
    leave.where = x.code.back().where;
    leave.source = x.code.back().source;
    x.code.back() = std::move(leave);
    x.successors = {otherwise};
    if (--predecessors_[end] == 0) {
      f_.blocks[end].code.clear();
      f_.blocks[end].successors.clear();
      removed_[end] = true;
    }
    return true;
  }

  /// A branch over a block that only jumps elsewhere becomes the opposite branch to there.
  bool invert(std::uint32_t b) {
    hir_block& x = f_.blocks[b];
    const hir_instruction* branch = branch_of(x);
    const std::uint32_t next = next_of(b);
    if (!branch || branch->guard.what != value::kind::reg || branch->return_block != isa::no_target ||
        x.successors.size() != 2 || next == no_node || branch->target != next_of(next) || predecessors_[next] != 1)
      return false;
    hir_block& y = f_.blocks[next];
    const hir_instruction* jump = branch_of(y);
    if (!jump || y.code.size() != 1 || jump->guard.what != value::kind::none || jump->return_block != isa::no_target ||
        jump->target == branch->target)
      return false;
    x.code.back().guard.negate = !x.code.back().guard.negate;
    x.code.back().target = jump->target;
    std::replace(x.successors.begin(), x.successors.end(), next, jump->target);
    y.code.clear();
    y.successors.clear();
    predecessors_[next] = 0;
    removed_[next] = true;
    return true;
  }

  /// A jump to a block that only exits becomes the exit.
  bool leave(std::uint32_t b) {
    hir_block& x = f_.blocks[b];
    const hir_instruction* jump = branch_of(x);
    if (!jump || jump->guard.what != value::kind::none || jump->return_block != isa::no_target ||
        !only_exits(jump->target) || jump->target == next_of(b))
      return false;
    const std::uint32_t end = jump->target;
    x.code.back() = f_.blocks[end].code[0];
    x.successors.clear();
    if (--predecessors_[end] == 0) {
      f_.blocks[end].code.clear();
      removed_[end] = true;
    }
    return true;
  }

  /// Merges the next block if it has no other predecessor.
  bool join(std::uint32_t b) {
    hir_block& x = f_.blocks[b];
    const std::uint32_t next = next_of(b);
    if (next == no_node || x.successors.size() != 1 || x.successors[0] != next || predecessors_[next] != 1 || next == b)
      return false;
    const hir_instruction* branch = branch_of(x);
    if (branch && branch->guard.what != value::kind::none) return false;
    if (branch) x.code.pop_back();
    hir_block& y = f_.blocks[next];
    std::move(y.code.begin(), y.code.end(), std::back_inserter(x.code));
    x.successors = std::move(y.successors);
    y.code.clear();
    y.successors.clear();
    predecessors_[next] = 0;
    removed_[next] = true;
    return true;
  }

  void renumber() {
    std::vector<std::uint32_t> number(f_.blocks.size(), no_node);
    std::vector<hir_block> kept;
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b)
      if (!removed_[b]) number[b] = static_cast<std::uint32_t>(kept.size()), kept.push_back(std::move(f_.blocks[b]));
    for (hir_block& b : kept) {
      for (std::uint32_t& s : b.successors) s = number[s];
      for (hir_instruction& h : b.code)
        if (h.op == ptx_op::bra) {
          h.target = number[h.target];
          if (h.return_block != isa::no_target) h.return_block = number[h.return_block];
        }
    }
    f_.blocks = std::move(kept);
  }

  hir_function& f_;
  const bool hopper_;
  std::vector<std::uint32_t> predecessors_;
  std::vector<bool> removed_;
  hir_instruction branch_;  // the branch removed last
};

}  // namespace

void convert_branches(hir_function& f, bool hopper_code) { converter(f, hopper_code).run(); }

}  // namespace heddle::ptx

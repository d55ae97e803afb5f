// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/convergence.h"

#include <algorithm>
#include <map>

#include "heddle/frontend/ptx/hir/control_flow.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

bool differs_by_lane(isa::special s) {
  using isa::special;
  return (s >= special::tid_x && s <= special::tid_z) || s == special::laneid ||
         (s >= special::lanemask_eq && s <= special::lanemask_ge);
}

/// The same value for all lanes whatever the operands are.
bool makes_lanes_agree(opcode op) { return op == opcode::vote || op == opcode::redux; }

/// A value of its own for each lane even if the operands are the same for all: what lanes exchange (unless it makes
/// them agree), what each does to memory one after another, or what is its own.
bool makes_lanes_differ(const machine_instruction& i) {
  const isa::opcode_info& row = isa::info(i.base.op);
  if (i.base.op == opcode::s2r) return differs_by_lane(static_cast<isa::special>(i.base.sub));
  if (row.members != isa::member_mask::no) return !makes_lanes_agree(i.base.op);
  if (row.access == isa::access_kind::load) return i.base.mem_space == isa::space::local;
  return row.access == isa::access_kind::atomic || row.flow == isa::flow_kind::system_call;
}

/// Which registers may have different values in the lanes of a warp, and which blocks only some of its lanes may
/// execute: the least sets that the rules demand.
class lane_differences {
 public:
  lane_differences(const machine_function& f, const std::vector<std::uint32_t>& reconvergence)
      : f_(f),
        reconvergence_(reconvergence),
        differs_(f.registers.size(), 0),
        definitions_(f.registers.size(), 0),
        divergent_(f.blocks.size(), 0) {
    for (const machine_block& b : f.blocks)
      for (const machine_instruction& i : b.code) for_each_result(i, [&](std::uint32_t r) { ++definitions_[r]; });
    do {
      changed_ = false;
      for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
        for (const machine_instruction& i : f.blocks[b].code) visit(i, b);
    } while (changed_);
  }

  [[nodiscard]] bool parts(const machine_instruction& i) const {
    return i.base.op == opcode::bra && i.guard.reg != no_register && differs_[i.guard.reg];
  }

 private:
  template <class F>
  static void for_each_result(const machine_instruction& i, F&& result) {
    if (i.dst.reg != no_register) result(i.dst.reg);
    for (const std::uint32_t p : i.pdst)
      if (p != no_register) result(p);
  }

  [[nodiscard]] bool read_differs(const machine_instruction& i) const {
    const auto differs = [&](std::uint32_t r) { return r != no_register && differs_[r]; };
    return differs(i.guard.reg) ||
           std::any_of(i.src.begin(), i.src.end(), [&](const auto& o) { return o.is_reg() && differs(o.reg); }) ||
           std::any_of(i.psrc.begin(), i.psrc.end(), [&](const auto& p) { return differs(p.reg); });
  }

  void visit(const machine_instruction& i, std::uint32_t block) {
    if (parts(i)) part_from(block);
    const bool differ = !makes_lanes_agree(i.base.op) && (makes_lanes_differ(i) || read_differs(i));
    for_each_result(i, [&](std::uint32_t r) {
      if (differs_[r] || !(differ || (divergent_[block] && definitions_[r] > 1))) return;
      differs_[r] = 1;
      changed_ = true;
    });
  }

  /// The blocks between a branch and its reconvergence point.
  void part_from(std::uint32_t branch) {
    std::vector<std::uint32_t> work = f_.blocks[branch].successors;
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      if (b == reconvergence_[branch] || divergent_[b]) continue;
      divergent_[b] = 1;
      changed_ = true;
      work.insert(work.end(), f_.blocks[b].successors.begin(), f_.blocks[b].successors.end());
    }
  }

  const machine_function& f_;
  const std::vector<std::uint32_t>& reconvergence_;
  std::vector<char> differs_;
  std::vector<std::uint32_t> definitions_;
  std::vector<char> divergent_;
  bool changed_ = false;
};

/// Whether a block can be executed again before `end` is.
bool repeats_before(const flow_graph& g, std::uint32_t block, std::uint32_t end) {
  std::vector<char> seen(g.size(), 0);
  std::vector<std::uint32_t> work = g[block];
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    if (b == block) return true;
    if (b == end || seen[b]) continue;
    seen[b] = 1;
    work.insert(work.end(), g[b].begin(), g[b].end());
  }
  return false;
}

bool only_exits(const machine_block& b) {
  return b.code.size() == 1 && b.code.front().base.op == opcode::exit && !b.code.front().guarded();
}

}  // namespace

convergence find_convergence(const machine_function& f, const std::vector<std::uint32_t>& reconvergence,
                             bool exits_apart) {
  convergence c{std::vector<std::vector<std::uint32_t>>(f.blocks.size()), std::vector<char>(f.blocks.size(), 0)};
  std::map<std::uint32_t, std::vector<std::uint32_t>> regions;  // by the block where they end: blocks that branch
  const lane_differences lanes(f, reconvergence);
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    if (reconvergence[b] != no_node && !(exits_apart && only_exits(f.blocks[reconvergence[b]])) &&
        std::any_of(f.blocks[b].code.begin(), f.blocks[b].code.end(),
                    [&](const machine_instruction& i) { return lanes.parts(i); }))
      regions[reconvergence[b]].push_back(b);
  if (regions.empty()) return c;
  flow_graph g;
  for (const machine_block& b : f.blocks) g.push_back(b.successors);
  const std::vector<std::uint32_t> dominator = immediate_dominators(g, 0);
  const dominance order(g, 0);
  for (const auto& [end, branches] : regions) {
    std::uint32_t begin = branches.front();
    if (dominator[begin] == no_node) continue;  // in a function that is called
    for (const std::uint32_t b : branches)
      while (!order.dominates(begin, b) && dominator[begin] != begin) begin = dominator[begin];
    while (repeats_before(g, begin, end) && dominator[begin] != begin) begin = dominator[begin];
    c.opens[begin].push_back(end);
    c.waits[end] = 1;
  }
  return c;
}

}  // namespace heddle::ptx

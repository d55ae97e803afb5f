// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/emit.h"

#include <algorithm>

#include "heddle/frontend/ptx/hir/control_flow.h"

namespace heddle::ptx {

namespace {

std::uint8_t place(const register_allocation& a, std::uint32_t reg, unsigned part, std::uint8_t none) {
  if (reg == no_register) return none;
  const std::uint8_t at = a.physical[reg];
  return at == none ? none : static_cast<std::uint8_t>(at + part);
}

isa::instruction convert(const machine_instruction& m, const register_allocation& a) {
  isa::instruction i = m.base;
  i.dst_count = m.dst.count;
  i.dst = place(a, m.dst.reg, m.dst.part, isa::rz);
  if (i.dst_count == 0) i.dst = isa::rz;
  i.guard = {place(a, m.guard.reg, 0, isa::pt), m.guard.negate};
  for (unsigned k = 0; k < m.pdst.size(); ++k) i.pdst[k] = place(a, m.pdst[k], 0, isa::pt);
  for (unsigned k = 0; k < m.psrc.size(); ++k) i.psrc[k] = {place(a, m.psrc[k].reg, 0, isa::pt), m.psrc[k].negate};
  for (unsigned k = 0; k < m.src.size(); ++k) {
    const virtual_operand& from = m.src[k];
    isa::operand& to = i.src[k];
    to.kind = from.kind;
    to.count = from.count;
    to.bank = from.bank;
    to.negate = from.negate;
    to.absolute = from.absolute;
    to.invert = from.invert;
    to.value = from.value;
    to.reg = from.kind == isa::operand_kind::reg ? place(a, from.reg, from.part, isa::rz) : isa::rz;
  }
  return i;
}

bool does_nothing(const isa::instruction& i) {
  return i.op == isa::opcode::mov && i.src[0].is_reg() && i.src[0].reg == i.dst && !i.src[0].negate;
}

block_end end_of(const machine_block& b) {
  if (b.code.empty() || !b.successors.empty()) return block_end::goes_on;
  const machine_instruction& last = b.code.back();
  if (last.base.op == isa::opcode::trap) return block_end::fails;
  return b.code.size() == 1 && last.base.op == isa::opcode::exit ? block_end::leaves : block_end::goes_on;
}

/// The call at the end of a block, or null.
const machine_instruction* call_of(const machine_block& b) {
  return !b.code.empty() && b.code.back().return_block != isa::no_target ? &b.code.back() : nullptr;
}

bool leaves_within(const machine_block& b) {
  return std::any_of(b.code.begin(), b.code.end(),
                     [](const machine_instruction& m) { return m.base.op == isa::opcode::exit && m.guarded(); });
}

/// Blocks that an end of the kernel or of a function can be reached from.
std::vector<char> ending(const flow_graph& g, const std::vector<block_end>& ends) {
  const flow_graph backwards = reversed(g);
  std::vector<char> seen(g.size(), 0);
  std::vector<std::uint32_t> work;
  for (std::uint32_t b = 0; b < g.size(); ++b)
    if (g[b].empty() && ends[b] != block_end::fails) seen[b] = 1, work.push_back(b);
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (const std::uint32_t p : backwards[b])
      if (!seen[p]) seen[p] = 1, work.push_back(p);
  }
  return seen;
}

/// Blocks that are left by a guarded exit alone, as a loop whose only end is that, get a node before them from where
/// lanes leave. Returns these blocks in the order of their nodes, which follow the blocks; the last node of all is the
/// way out.
std::vector<std::uint32_t> add_ways_out(const machine_function& f, flow_graph& g, std::vector<block_end>& ends) {
  const std::vector<char> ended = ending(g, ends);
  const auto n = static_cast<std::uint32_t>(f.blocks.size());
  std::vector<std::uint32_t> left, node(n);
  for (std::uint32_t b = 0; b < n; ++b) {
    node[b] = b;
    if (ended[b] || !leaves_within(f.blocks[b])) continue;
    node[b] = n + static_cast<std::uint32_t>(left.size());
    left.push_back(b);
  }
  if (left.empty()) return left;
  for (auto& successors : g)
    for (std::uint32_t& s : successors) s = node[s];
  for (const std::uint32_t b : left) {
    g.push_back({b, n + static_cast<std::uint32_t>(left.size())});
    ends.push_back(block_end::goes_on);
  }
  g.emplace_back();
  ends.push_back(block_end::leaves);
  return left;
}

/// The flow within the kernel and within each function: a call leads to where it comes back to, a function's way back
/// nowhere.
std::vector<std::uint32_t> meeting_points(const machine_function& f) {
  std::vector<char> comes_back(f.blocks.size(), 0);
  for (const machine_block& b : f.blocks)
    if (const machine_instruction* call = call_of(b)) comes_back[call->return_block] = 1;
  flow_graph g;
  std::vector<block_end> ends;
  for (const machine_block& b : f.blocks) {
    ends.push_back(end_of(b));
    g.emplace_back();
    if (const machine_instruction* call = call_of(b)) {
      g.back().push_back(call->return_block);
      continue;
    }
    for (const std::uint32_t s : b.successors)
      if (!comes_back[s]) g.back().push_back(s);
  }
  const std::vector<std::uint32_t> left = add_ways_out(f, g, ends);
  std::vector<std::uint32_t> meeting = meeting_points(g, ends);
  const std::size_t n = f.blocks.size();
  meeting.resize(n);
  for (std::uint32_t& m : meeting)
    if (m != no_node && m >= n) m = m - n < left.size() ? left[m - n] : no_node;
  return meeting;
}

/// Where lanes wait that come back from a call before the others. They go on behind it, which keeps apart those that
/// wait for the rest of their own call and those of a call within it that comes back to the same place.
isa::instruction waiting_place(const machine_instruction& call) {
  isa::instruction i;
  i.op = isa::opcode::nop;
  i.line = call.base.line;
  i.column = call.base.column;
  return i;
}

}  // namespace

std::vector<isa::instruction> emit(const machine_function& f, const register_allocation& a) {
  const std::vector<std::uint32_t> meeting = meeting_points(f);
  std::vector<const machine_instruction*> called(f.blocks.size(), nullptr);
  for (const machine_block& b : f.blocks)
    if (const machine_instruction* call = call_of(b)) called[call->return_block] = call;
  std::vector<isa::instruction> code;
  std::vector<std::uint32_t> start(f.blocks.size());
  struct jump {
    std::size_t at;
    std::uint32_t target, meeting;
  };
  std::vector<jump> jumps;
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    start[b] = static_cast<std::uint32_t>(code.size());
    if (called[b]) code.push_back(waiting_place(*called[b]));
    for (const machine_instruction& m : f.blocks[b].code) {
      isa::instruction i = convert(m, a);
      if (does_nothing(i)) continue;
      if (i.op == isa::opcode::bra) {
        bool next = m.target_block > b;  // only empty blocks between
        for (std::uint32_t k = b + 1; next && k < m.target_block; ++k) next = f.blocks[k].code.empty() && !called[k];
        const bool calls = m.return_block != isa::no_target;
        if (next && !calls) continue;
        jumps.push_back({code.size(), m.target_block, calls ? m.return_block : m.guarded() ? meeting[b] : no_node});
      }
      code.push_back(i);
    }
  }
  for (const jump& j : jumps) {
    isa::instruction& i = code[j.at];
    i.target = start[j.target];
    if (j.meeting != no_node) i.reconverge = start[j.meeting];
  }
  return code;
}

}  // namespace heddle::ptx

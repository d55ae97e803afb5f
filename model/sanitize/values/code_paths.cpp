// SPDX-License-Identifier: MIT
#include "heddle/sanitize/values/code_paths.h"

#include <algorithm>
#include <vector>

#include "heddle/isa/imad_form.h"

namespace heddle::sanitize {

namespace {

/// Visits the instructions behind `from`, along all paths. visit(index) says whether its path goes on.
template <class F>
void walk(const isa::program& p, std::uint32_t from, F&& visit) {
  std::vector<bool> seen(p.code.size());
  std::vector<std::uint32_t> open;
  const auto leave = [&](std::uint32_t k) {
    const isa::instruction& i = p.code[k];
    const bool jumps = i.op == isa::opcode::bra && i.target != isa::no_target;
    if (jumps) open.push_back(i.target);
    if ((!jumps && i.op != isa::opcode::exit) || i.guarded() || i.calls()) open.push_back(k + 1);
  };
  leave(from);
  while (!open.empty()) {
    const std::uint32_t k = open.back();
    open.pop_back();
    if (k >= p.code.size() || seen[k]) continue;
    seen[k] = true;
    if (visit(k)) leave(k);
  }
}

bool has(const isa::operand& o, unsigned reg) { return o.is_reg() && reg >= o.reg && reg < unsigned{o.reg} + o.count; }

bool is_copied(const isa::instruction& i, unsigned reg) {
  return i.op == isa::opcode::st && !has(i.src[0], reg) && has(i.src[1], reg) && i.src[1].count > 1;
}

constexpr unsigned most_moves = 4;  // of a value that are followed

bool computes(const isa::program& p, std::uint32_t from, unsigned reg, unsigned moves) {
  bool found = false;
  walk(p, from, [&](std::uint32_t k) {
    const isa::instruction& i = p.code[k];
    const bool reads = std::any_of(i.src.begin(), i.src.end(), [&](const auto& o) { return has(o, reg); });
    const isa::operand* const copied = isa::copied_by(i);
    if (reads && copied != nullptr && copied->is_reg())
      found |= moves < most_moves && computes(p, k, i.dst + reg - copied->reg, moves + 1);
    else found |= reads && !is_copied(i, reg);
    const bool rewritten = i.dst != isa::rz && reg >= i.dst && reg < unsigned{i.dst} + i.dst_count && !i.guarded();
    return !found && !rewritten;
  });
  return found;
}

}  // namespace

bool always_follows(const isa::program& p, std::uint32_t from, std::uint32_t at) {
  bool always = true;
  walk(p, from, [&](std::uint32_t k) {
    if (k != at && p.code[k].op == isa::opcode::exit) always = false;
    return k != at && always;
  });
  return always;
}

bool computes_with(const isa::program& p, std::uint32_t from, unsigned reg) { return computes(p, from, reg, 0); }

}  // namespace heddle::sanitize

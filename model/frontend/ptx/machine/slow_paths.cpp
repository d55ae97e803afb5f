// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <utility>

#include "heddle/frontend/ptx/machine/machine_passes.h"

namespace heddle::ptx {

namespace {

bool is_slow_path(const machine_instruction& i) { return i.base.op == isa::opcode::assist && i.guarded(); }

machine_instruction branch_around(const machine_instruction& slow, std::uint32_t target) {
  machine_instruction i;
  i.base.op = isa::opcode::bra;
  i.base.line = slow.base.line;
  i.base.column = slow.base.column;
  i.guard = {slow.guard.reg, !slow.guard.negate};
  i.dst = {no_register, 0, 0};
  i.target_block = target;
  return i;
}

/// Instructions of ptxas 13.0 for 9.0 between the branch to the slow path and its end, of operands that are zero,
/// infinite or NaN; 0: not known. `gauss_multipliers`, which divides by zero, executes 39 of them on an H100.
unsigned routine_length(const machine_instruction& i) {
  if (i.base.round != isa::rounding::rn) return 0;  // no slow path alone
  switch (static_cast<isa::assist_function>(i.base.sub)) {
    case isa::assist_function::div_f32: return 39;
    case isa::assist_function::rcp_f32: return 14;
    default: return 0;
  }
}

}  // namespace

void count_slow_paths(machine_function& f) {
  for (machine_block& b : f.blocks) {
    std::vector<machine_instruction> code;
    for (machine_instruction& i : b.code) {
      if (i.base.op == isa::opcode::assist)
        for (unsigned k = 1; k < routine_length(i); ++k) {
          machine_instruction step;
          step.base.op = k % 3 == 0 ? isa::opcode::iadd3 : isa::opcode::lop3;
          step.base.line = i.base.line;
          step.base.column = i.base.column;
          step.base.dst_count = step.dst.count = 1;
          for (unsigned n = 0; n < 3; ++n) step.src[n] = virtual_operand(register_part{no_register, 0, 1});
          code.push_back(step);
        }
      code.push_back(std::move(i));
    }
    b.code = std::move(code);
  }
}

void split_at_slow_paths(machine_function& f) {
  std::vector<std::uint32_t> place;  // of each block among the new ones
  std::uint32_t count = 0;
  for (const machine_block& b : f.blocks) {
    place.push_back(count);
    count += 1 + 2 * static_cast<std::uint32_t>(std::count_if(b.code.begin(), b.code.end(), is_slow_path));
  }
  if (count == f.blocks.size()) return;
  const auto moved = [&](std::uint32_t b) { return b < place.size() ? place[b] : b; };
  std::vector<machine_block> made;
  made.reserve(count);
  for (machine_block& b : f.blocks) {
    made.emplace_back();
    for (machine_instruction& i : b.code) {
      i.target_block = moved(i.target_block);
      i.return_block = moved(i.return_block);
      if (!is_slow_path(i)) {
        made.back().code.push_back(std::move(i));
        continue;
      }
      const auto slow = static_cast<std::uint32_t>(made.size()), behind = slow + 1;
      made.back().code.push_back(branch_around(i, behind));
      made.back().successors = {behind, slow};
      i.guard = {};
      made.push_back({{std::move(i)}, {behind}});
      made.emplace_back();
    }
    for (const std::uint32_t s : b.successors) made.back().successors.push_back(moved(s));
  }
  f.blocks = std::move(made);
}

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/dependence/crossings.h"

#include <algorithm>
#include <cstddef>

#include "heddle/isa/instruction.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

namespace {

// A result that nothing has read so far behind is there long before.
constexpr std::size_t reach = 32;

bool forwards(const decoded_instruction& d) {
  const bool has_unit = d.unit == isa::unit::fp32 || d.unit == isa::unit::integer || d.unit == isa::unit::half;
  return has_unit && d.kind == issue_kind::arithmetic && d.result == producer::fixed;
}

bool reads(const isa::instruction& i, unsigned first, unsigned count) {
  return std::any_of(i.src.begin(), i.src.end(), [&](const isa::operand& o) {
    return o.is_reg() && o.reg != isa::rz && o.reg < first + count && first < 0u + o.reg + o.count;
  });
}

bool overwrites(const isa::instruction& i, unsigned first, unsigned count) {
  return !i.guarded() && i.dst != isa::rz && i.dst <= first && first + count <= 0u + i.dst + i.dst_count;
}

/// The next reader of the result of instruction k, the end of a loop followed by its beginning; null: none is near.
const decoded_instruction* next_reader(const decoded_program& p, std::size_t k) {
  const isa::instruction& from = *p.code[k].instruction;
  bool went_back = false;
  std::size_t at = k + 1;
  for (std::size_t n = 0; n < reach && at < p.code.size(); ++n) {
    const isa::instruction& i = *p.code[at].instruction;
    if (reads(i, from.dst, from.dst_count)) return &p.code[at];
    if (overwrites(i, from.dst, from.dst_count)) return nullptr;
    const bool back = i.op == isa::opcode::bra && i.target <= at && !went_back;
    went_back = went_back || back;
    at = back ? i.target : at + 1;
  }
  return nullptr;
}

}  // namespace

void lengthen_crossings(decoded_program& p, unsigned cycles) {
  if (cycles == 0) return;
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    decoded_instruction& d = p.code[k];
    if (!forwards(d) || d.instruction->dst == isa::rz || d.instruction->dst_count == 0) continue;
    const decoded_instruction* const reader = next_reader(p, k);
    if (reader != nullptr && forwards(*reader) && reader->unit != d.unit)
      d.latency_cycles = std::max<decltype(d.latency_cycles)>(d.latency_cycles, cycles);
  }
}

}  // namespace heddle

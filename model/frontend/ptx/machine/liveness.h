// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

/// Half-open stretch of positions. Instruction i (counted through all blocks) reads at 2i and writes at 2i + 1.
struct segment {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};
using segments = std::vector<segment>;  // ascending, disjoint

bool overlap(const segments& a, const segments& b);
void merge_into(segments& to, const segments& from);
/// Undoes merge_into of stretches that met none of the others.
void take_out(segments& of, const segments& what);

/// Words of virtual registers, numbered: unit of (register, part) = first[register] + part; a predicate is one unit.
class unit_map {
 public:
  explicit unit_map(const std::vector<virtual_register>& registers);
  [[nodiscard]] std::uint32_t of(std::uint32_t reg, unsigned part = 0) const { return first_[reg] + part; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  std::vector<std::uint32_t> first_;
  std::uint32_t count_ = 0;
};

/// Calls use(unit) for every unit that an instruction reads. A guarded write keeps the old value of the other lanes, so
/// it reads as well, unless the register is a temporary.
template <class F>
void for_each_use(const machine_instruction& i, const std::vector<virtual_register>& registers, const unit_map& units,
                  F&& use) {
  for (const virtual_operand& o : i.src)
    if (o.is_reg())
      for (unsigned k = 0; k < o.count; ++k) use(units.of(o.reg, o.part + k));
  for (const virtual_predicate& p : i.psrc)
    if (p.reg != no_register) use(units.of(p.reg));
  if (i.guard.reg != no_register) use(units.of(i.guard.reg));
  if (!i.guarded()) return;
  if (i.dst.reg != no_register && !registers[i.dst.reg].temporary && !registers[i.dst.reg].whole)
    for (unsigned k = 0; k < i.dst.count; ++k) use(units.of(i.dst.reg, i.dst.part + k));
  for (std::uint32_t p : i.pdst)
    if (p != no_register && !registers[p].temporary) use(units.of(p));
}

/// Calls define(unit) for every unit that an instruction writes.
template <class F>
void for_each_definition(const machine_instruction& i, const unit_map& units, F&& define) {
  if (i.dst.reg != no_register)
    for (unsigned k = 0; k < i.dst.count; ++k) define(units.of(i.dst.reg, i.dst.part + k));
  for (std::uint32_t p : i.pdst)
    if (p != no_register) define(units.of(p));
}

/// Where each unit is live, by data flow over the blocks.
std::vector<segments> live_segments(const machine_function& f, const unit_map& units);

}  // namespace heddle::ptx

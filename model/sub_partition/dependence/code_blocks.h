// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "heddle/isa/set_bits.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

// The basis of control codes: names of registers and predicates, basic blocks, distances in straight-line code.
namespace heddle::control_codes {

// Of a result's latency: four bits of the control code (Jia et al. 2018, section 2.1). What memory instructions wait
// longer for operands comes on top.
constexpr unsigned longest_stall = 15;
constexpr unsigned register_count = 256, name_count = register_count + 8;  // registers, then predicates

/// Calls f with each name that the instruction reads or writes.
template <class F>
void each_name(const decoded_instruction& d, F&& f) {
  for (unsigned k = 0; k < d.depends_count; ++k) f(d.depends[k]);
  for (unsigned k = 0; k < d.accumulators; ++k) f(d.instruction->dst + k);
  for (const unsigned predicate : set_bits(d.predicates)) f(register_count + predicate);
}

/// Calls f with each name that the instruction writes.
template <class F>
void each_result(const decoded_instruction& d, F&& f) {
  const isa::instruction& i = *d.instruction;
  if (i.dst != isa::rz)
    for (unsigned k = 0; k < i.dst_count; ++k) f(i.dst + k);
  for (const unsigned predicate : set_bits(d.written_predicates)) f(register_count + predicate);
}

/// Calls f with each register that the instruction reads.
template <class F>
void each_source(const decoded_instruction& d, F&& f) {
  for (const isa::operand& o : d.instruction->src)
    if (o.is_reg() && o.reg != isa::rz)
      for (unsigned k = 0; k < o.count; ++k) f(o.reg + k);
}

/// True if the result is guarded by a counter, not by stall counts.
inline bool needs_counter(const decoded_instruction& d) {
  const bool has_result = d.instruction->dst != isa::rz || d.written_predicates != 0;
  return has_result && (d.result != producer::fixed || d.latency_cycles + d.guard_cycles > longest_stall);
}

struct block {
  std::size_t first, last;  // last: one past the end
  std::vector<std::size_t> next;
};
std::vector<block> blocks_of(const decoded_program& p);

/// Minimum number of cycles between the issue of two instructions of straight-line code: their stall counts, and the
/// time for which instructions between them hold units. Units held before the first instruction and other warps do not
/// count, because they may delay the first instruction as well. The result is exact only up to `enough`.
unsigned distance(const decoded_program& p, std::size_t first, std::size_t last, unsigned enough);

}  // namespace heddle::control_codes

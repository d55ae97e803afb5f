// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// Effective address per lane of ld, st, atom, red, ldc (register + offset), for the lanes of `mask`. Generic addresses
/// are not resolved to a space.
void lane_addresses(const isa::instruction& i, const warp_state& w, lane_mask mask, std::uint64_t addresses[warp_size]);

/// True if all lanes' addresses are multiples of `bytes`, a power of two, and lie between `first` and `last`, which
/// must be less than 2^63 bytes apart. It has no branch per lane.
bool all_lie_within(const std::uint64_t addresses[warp_size], std::uint64_t first, std::uint64_t last, unsigned bytes);

/// 32-bit words per lane of a memory instruction's operands, at most: those of a compare-and-swap of 16 bytes.
constexpr unsigned operand_words = 8;

/// The operand(s) of a store, atomic or reduction: 32-bit words per lane, words[k][lane]. Only the words of the access
/// are written. cas: the words of the compare value, then those of the new value.
void lane_store_data(const isa::instruction& i, const warp_state& w, std::uint32_t (*words)[warp_size]);

/// Writes loaded bytes (raw element bytes, packed from words[0][lane] up) to the destination registers, extended
/// according to the type.
void lane_write_back(const isa::instruction& i, warp_state& w, lane_mask mask, const std::uint32_t words[4][warp_size]);

/// Bytes that one lane of a memory instruction accesses (1, 2, 4, 8 or 16): the size of its type; for loads and stores
/// of 32-bit and larger types at least the size of their registers.
unsigned access_bytes(const isa::instruction& i);

/// The new value of a cell of shared memory after an atomic operation on its old value (element bits in the low bytes).
/// For cas, `operand` is the compare value and `swap` the new one.
std::uint64_t atomic_result(isa::atomic_op op, isa::dtype type, std::uint64_t old_value, std::uint64_t operand,
                            std::uint64_t swap);

/// The same of global memory, where additions of f32 flush subnormal inputs and results (PTX ISA, atom and red).
std::uint64_t global_atomic_result(isa::atomic_op op, isa::dtype type, std::uint64_t old_value, std::uint64_t operand,
                                   std::uint64_t swap);

/// The 16 bytes of an atomic that exchanges them (exch, cas).
struct wide_cell {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const wide_cell& o) const { return low == o.low && high == o.high; }
};
inline wide_cell atomic_result(isa::atomic_op op, wide_cell old_value, wide_cell operand, wide_cell swap) {
  if (op != isa::atomic_op::cas) return operand;
  return old_value == operand ? swap : old_value;
}
/// Words `first` to `first` + 3 of a lane.
inline wide_cell cell_operand(const std::uint32_t (*words)[warp_size], unsigned first, unsigned lane) {
  const auto two = [&](unsigned k) { return words[k][lane] | std::uint64_t{words[k + 1][lane]} << 32; };
  return {two(first), two(first + 2)};
}

/// Shared-memory load, store or atomic on the lanes of `mask` at block-relative addresses. Throws program_error (text
/// without place) with `bad_lane` set if an address is outside the block's shared memory or misaligned. Returns how
/// many values an atomic has changed.
unsigned shared_access(const isa::instruction& i, warp_state& w, lane_mask mask,
                       const std::uint64_t addresses[warp_size], unsigned& bad_lane);

/// As shared_access, of a warp of another block: at offsets in `block`'s shared memory. `words` are the operands of
/// lane_store_data (LDGSTS: the bytes copied), and become the loaded bytes, or the values before an atomic.
void remote_shared_access(const isa::instruction& i, const block_context& block, lane_mask mask,
                          const std::uint64_t addresses[warp_size], std::uint32_t (*words)[warp_size],
                          unsigned& bad_lane);

/// LDGSTS: offsets in the block's shared memory to which the lanes of `mask` copy. Throws as shared_access does.
void copy_targets(const isa::instruction& i, const warp_state& w, lane_mask mask, std::uint64_t offsets[warp_size],
                  unsigned& bad_lane);
/// LDGSTS: the lanes of `mask` that copy; the others write zeros.
lane_mask copying_lanes(const isa::instruction& i, const warp_state& w, lane_mask mask);

/// LDSM: the lanes that supply row addresses.
lane_mask matrix_rows(const isa::instruction& i);

}  // namespace heddle::simt

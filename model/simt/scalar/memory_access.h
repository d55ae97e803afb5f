// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// Effective address per lane of ld, st, atom, red, ldc (register + offset), for the lanes of `mask`. Generic
/// addresses are not yet resolved to a space.
void lane_addresses(const isa::instruction& i, const warp_state& w, lane_mask mask, std::uint64_t addresses[warp_size]);

/// The store, atomic or reduction operand(s): up to four 32-bit words per lane, words[k][lane]; only the words that the
/// access has are written. cas: the compare value's words, then the new value's.
void lane_store_data(const isa::instruction& i, const warp_state& w, std::uint32_t words[4][warp_size]);

/// Writes loaded bytes (raw element bytes, `size` per element packed from words[0][lane] up) into the destination
/// registers with the extension the type asks for.
void lane_write_back(const isa::instruction& i, warp_state& w, lane_mask mask, const std::uint32_t words[4][warp_size]);

/// Bytes that one lane of a memory instruction moves (1, 2, 4, 8 or 16): the size of its type; for loads and stores of
/// 32-bit types and above at least that of their registers.
unsigned access_bytes(const isa::instruction& i);

/// The new value of a memory cell under an atomic, from its old value (element bits in the low bytes): shared by the
/// shared-memory path and the L2. For cas, `operand` is the compare value and `swap` the new one.
std::uint64_t atomic_result(isa::atomic_op op, isa::dtype type, std::uint64_t old_value, std::uint64_t operand,
                            std::uint64_t swap);

/// Shared-memory load, store or atomic on the lanes of `mask` at block-relative addresses. Throws program_error
/// (text without place) with `bad_lane` set when an address is outside the block's shared memory or misaligned.
void shared_access(const isa::instruction& i, warp_state& w, lane_mask mask, const std::uint64_t addresses[warp_size],
                   unsigned& bad_lane);

/// LDSM: the lanes whose addresses the instruction reads.
lane_mask matrix_rows(const isa::instruction& i);

}  // namespace heddle::simt

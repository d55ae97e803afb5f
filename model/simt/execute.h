// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// Executes one decoded instruction on a warp: `mask` are the lanes that are active and pass the guard.
/// Arithmetic, predicates, special registers, shuffles, votes and shared-memory accesses take effect at once.
using execute_function = void (*)(const isa::instruction&, warp_state&, lane_mask mask);

/// The function for an instruction (chosen once, when the program is loaded; never null). Instructions that the
/// machine executes elsewhere (branches, exit, barriers, global memory) get a function that does nothing. The function of
/// an access that names shared memory is shared_access at lane_addresses: call the one or the other, not both.
execute_function select(const isa::instruction& i);

/// Lanes in `active` for which the guard predicate holds.
inline lane_mask guarded(const isa::predicate& guard, const warp_state& w) {
  const lane_mask p = w.predicates[guard.reg];
  return w.active & (guard.negate ? ~p : p);
}
inline lane_mask guarded(const isa::instruction& i, const warp_state& w) { return guarded(i.guard, w); }

/// The value of an operand (one word or two, without modifiers) on one lane.
std::uint64_t lane_value(const isa::operand& o, const warp_state& w, unsigned lane);

/// Effective address per lane of ld, st, atom, red, ldc (register + offset), for the lanes of `mask`. Generic
/// addresses are not yet resolved to a space.
void lane_addresses(const isa::instruction& i, const warp_state& w, lane_mask mask, std::uint64_t addresses[warp_size]);

/// The store, atomic or reduction operand(s): up to four 32-bit words per lane, words[k][lane]; only the words that the access
/// has are written. cas: the compare value's words, then the new value's.
void lane_store_data(const isa::instruction& i, const warp_state& w, std::uint32_t words[4][warp_size]);

/// Writes loaded bytes (raw element bytes, `size` per element packed from words[0][lane] up) into the destination
/// registers with the extension the type asks for.
void lane_write_back(const isa::instruction& i, warp_state& w, lane_mask mask, const std::uint32_t words[4][warp_size]);

/// Bytes that one lane of a memory instruction moves (1, 2, 4, 8 or 16): the size of its type; for loads and stores of 32-bit
/// types and above at least that of their registers.
unsigned access_bytes(const isa::instruction& i);

/// The new value of a memory cell under an atomic, from its old value (element bits in the low bytes): shared by the
/// shared-memory path and the L2. For cas, `operand` is the compare value and `swap` the new one.
std::uint64_t atomic_result(isa::atomic_op op, isa::dtype type, std::uint64_t old_value, std::uint64_t operand, std::uint64_t swap);

/// Shared-memory load, store or atomic on the lanes of `mask` at block-relative addresses. Throws program_error
/// (text without place) with `bad_lane` set when an address is outside the block's shared memory or misaligned.
void shared_access(const isa::instruction& i, warp_state& w, lane_mask mask, const std::uint64_t addresses[warp_size],
                   unsigned& bad_lane);

/// A reducing barrier's result, of `threads` that came and `count` whose predicate held, for the lanes of `mask` that wait at it.
void write_reduction(const isa::instruction& i, warp_state& w, lane_mask mask, std::uint32_t count, std::uint32_t threads);

/// LDSM: the lanes whose addresses the instruction reads.
lane_mask matrix_rows(const isa::instruction& i);

/// Divergence, by reconvergence stack or (warp_state::independent) with a program counter per lane, see docs/divergence.md. All
/// leave (pc, active) at the next instruction to execute. With independent lanes exit_lanes may leave none active while some
/// live: all those wait (simt/warp/divergence.h).
/// A branch: lanes of `taken` jump to i.target, the other active lanes fall through. Returns true if the warp diverged.
bool branch(const isa::instruction& i, warp_state& w, lane_mask taken);
/// Lanes of `mask` exit. pc advances for the rest, or control goes to other lanes. No live lane: warp is done.
void exit_lanes(warp_state& w, lane_mask mask);
/// pc + 1, meeting the lanes that wait there if it is a reconvergence point.
void advance(warp_state& w);

}  // namespace heddle::simt

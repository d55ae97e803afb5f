// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

/// An immediate or a constant-bank operand.
inline bool is_value(const virtual_operand& o) { return o.is_immediate() || o.is_constant(); }

/// Whether source k of the opcode may be a constant-bank word or an immediate (if no other source of it is one).
bool takes_constant(isa::opcode op, unsigned k);

/// Whether all sources that may be constants can be so at once.
bool takes_many_constants(isa::opcode op);

/// Exchanges sources 0 and 1 where the operation has an equivalent that way round; false: it has none.
bool exchange_sources(machine_instruction& i);

/// Follows moves of single-definition registers to their source, and puts constants and immediates into operands.
void propagate_copies(machine_function& f);

/// After a copy of a register into one with several definitions (a loop's variable), the rest of the block reads the
/// copy: the original then ends there and both can share a place.
void rename_after_copies(machine_function& f);

/// A value computed only to be copied is computed in the place of the copy, where nothing between the two minds.
void compute_in_place(machine_function& f);

/// A load of several words under a guard writes the variables that its words are copied to under the same guard, as
/// ptxas lets it: a copy would wait for the memory. Where the guard is false, the old values stay.
void load_into_variables(machine_function& f);

/// What has been computed on every path to an instruction that computes the same again serves in its place.
void share_values(machine_function& f);

/// Joins two additions where the first one's result is read once.
void merge_chains(machine_function& f);

/// Joins two logic operations to one of three inputs where the first one's result is read once, and a comparison with
/// zero to the operation whose result it reads: LOP3 gives a predicate, too.
void join_logic(machine_function& f);

/// Joins loads of neighbouring words of shared memory where the address is known to be aligned, as ptxas does: LDS.64
/// and LDS.128.
void widen_shared_loads(machine_function& f);

/// Joins a 64-bit sum and the shift or the sign extension of one addend that nothing else reads: LEA with LEA.HI.X.
void join_shifted_sums(machine_function& f);

/// Puts guarded ASSISTs, the slow paths of divisions and roots, behind branches that lanes without need of them take.
void split_at_slow_paths(machine_function& f);

/// Puts instructions without results before ASSISTs, as many as the chip's routine has beside them, from 9.0 on.
void count_slow_paths(machine_function& f);

/// Removes instructions whose results nothing reads.
void remove_dead_code(machine_function& f);

/// Texture fetches whose last elements nothing reads have no registers for them.
void narrow_fetches(machine_function& f);

/// How instructions come to constants: as operands, or from registers that loads fill (from 9.0 on).
enum class constant_access : std::uint8_t { operands, loads };

/// Makes every instruction encodable: at most one constant or immediate, in a place that the opcode takes; other ones
/// are moved to registers first.
void legalise(machine_function& f, constant_access access = constant_access::operands);

/// Whether an instruction works on values that all lanes share alone, as those of the uniform datapath do: from 9.0 on
/// it may take any number of constants.
bool is_uniform(const machine_instruction& i);

/// Keeps words of constants in registers where an instruction reads a second value, which it cannot take as well; all
/// that read such a word then read the register. ptxas does so for 9.0 and later, where the word must be loaded anyway.
void hold_constants(machine_function& f);

/// Moves of constants into threads' registers become LDC, those of a pair one.
void load_constants(machine_function& f);

/// Loads constants again in each block that reads them, instead of keeping them in registers. False: nothing changed.
bool reload_constants(machine_function& f);

/// Puts ULDC before instructions that read constants as operands, as ptxas does for 9.0 and later, whose instructions
/// take uniform registers instead: once where a block on all paths has read the constant before, before loops, and both
/// halves of a pair of parameters that are needed together in one. After this the order of instructions is final.
void load_uniform_constants(machine_function& f);

}  // namespace heddle::ptx

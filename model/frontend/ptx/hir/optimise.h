// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// Finds registers with a single definition that dominates their uses and propagates copies and constants through
/// them. Folds integer arithmetic on constants, parameters into constant-bank operands, additions into address
/// offsets, products into wide multiply-adds and predicate logic into comparisons. Marks unused instructions as dead.
/// `hopper_code`: addresses of registers with several definitions are folded where these have not changed since, those
/// of wmma too, and conversions of whole numbers.
void optimise(hir_function& f, bool has_imad, bool hopper_code);

/// The lowest bits of an integer, extended as its type asks.
std::int64_t sign_extend(std::uint64_t v, isa::dtype t);
std::uint64_t mask_of(isa::dtype t);

/// The result of a conversion of a number that is known: between integers, or of a whole number from f32 to 32 bits
/// that hold it. False: it is not known.
bool fold_convert(const hir_instruction& h, std::uint64_t& result);

}  // namespace heddle::ptx

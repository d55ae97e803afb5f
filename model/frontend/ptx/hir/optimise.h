// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// Finds registers with a single definition that dominates their uses, follows copies and constants through them, folds
/// integer arithmetic on constants, parameters into constant-bank operands, additions into address offsets, products
/// into wide multiply-adds and predicate logic into comparisons, and marks what nobody needs as dead.
void optimise(hir_function& f, bool has_imad);

}  // namespace heddle::ptx

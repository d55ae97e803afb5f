// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// Finds registers with a single definition that dominates their uses and propagates copies and constants through
/// them. Folds integer arithmetic on constants, parameters into constant-bank operands, additions into address
/// offsets, products into wide multiply-adds and predicate logic into comparisons. Marks unused instructions as dead.
void optimise(hir_function& f, bool has_imad);

}  // namespace heddle::ptx

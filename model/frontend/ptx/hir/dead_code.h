// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// Moves dead instructions from the blocks into `unused`; an atomic operation whose old value is not read becomes a
/// reduction.
void drop_dead_code(hir_function& f);

}  // namespace heddle::ptx

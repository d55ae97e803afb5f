// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// Takes what nobody needs out of the blocks, into `unused`; an atomic operation whose old value nobody reads becomes a
/// reduction.
void drop_dead_code(hir_function& f);

}  // namespace heddle::ptx

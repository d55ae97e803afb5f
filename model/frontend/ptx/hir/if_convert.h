// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// If-conversion of short branches: if a branch skips a few plain instructions, or selects between two such sequences,
/// these are guarded and the branch is removed. A branch to the end of the program becomes a guarded exit. Blocks that
/// then have a single predecessor are merged with it. Call it after optimise(); it uses and preserves the information
/// about single definitions. `hopper_code`: a jump to the end becomes an exit, and a branch over a jump the opposite
/// branch.
void convert_branches(hir_function& f, bool hopper_code);

}  // namespace heddle::ptx

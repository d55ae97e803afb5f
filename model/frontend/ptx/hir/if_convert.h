// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// Predication of short branches: where a branch skips a few plain instructions, or chooses between two such pieces,
/// these are guarded instead and the branch goes; a branch to the end of the program becomes a guarded exit. Blocks
/// that are then entered from one place only are joined to it. To be called after optimise(), whose knowledge of single
/// definitions it uses and keeps.
void convert_branches(hir_function& f);

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// Accesses of the bodies of an unrolled loop share an address: (base + 16) + x * 4 is base + x * 4, and the 16 goes
/// into the offset of the access, as ptxas does. Within a block, for sums of 64 bits with a word of which a constant is
/// known.
void share_addresses(hir_function& f);

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// Joins a product and its sum to a fused multiply-add where PTX leaves the rounding of both open, as ptxas does by
/// default (--fmad): if every use of the product is such a sum in the same block.
void contract_products(hir_function& f);

}  // namespace heddle::ptx

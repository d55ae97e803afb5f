// SPDX-License-Identifier: MIT
#define HEDDLE_SIMT_TARGET baseline
#include "heddle/simt/tensor/product_sums.inc"
#include "heddle/simt/vector/fast_kernels.h"

namespace heddle::simt {

void add_products(product_tile& t, const product_sums& s) {
#if defined(HEDDLE_SIMT_AVX2)
  if (host_has_avx2()) return avx2::add_products(t, s);
#endif
  baseline::add_products(t, s);
}

}  // namespace heddle::simt

// SPDX-License-Identifier: MIT
// Compiled with -mavx2 (see CMakeLists.txt).
#define HEDDLE_SIMT_TARGET avx2
#include "heddle/simt/tensor/product_sums.inc"

// SPDX-License-Identifier: MIT
// Compiled with -mavx2 -mfma (see CMakeLists.txt).
#define HEDDLE_SIMT_TARGET avx2
#include "heddle/simt/vector/fast_kernels.inc"

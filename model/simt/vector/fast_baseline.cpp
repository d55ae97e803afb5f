// SPDX-License-Identifier: MIT
#define HEDDLE_SIMT_TARGET baseline
#include "heddle/simt/vector/fast_kernels.inc"

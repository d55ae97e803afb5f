// SPDX-License-Identifier: MIT
#define HEDDLE_SIMT_TARGET baseline
#include "simt/fast_kernels.inc"

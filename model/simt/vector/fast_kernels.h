// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/simt/warp/execute_function.h"

// The frequent instructions as vectorisable loops. They are compiled for the build's instruction set and, on x86-64, a
// second time for AVX2 with FMA; execute.cpp selects the variant that the host can run. Results are bit-identical. Each
// select_fast returns null for an instruction that the portable functions of topics.h execute.

namespace heddle::simt {

namespace baseline {
execute_function select_fast(const isa::instruction& i);
}
#if defined(HEDDLE_SIMT_AVX2)
namespace avx2 {
execute_function select_fast(const isa::instruction& i);
}
#endif

/// True if the AVX2 kernels are built in and the host has AVX2 and FMA.
bool host_has_avx2();

}  // namespace heddle::simt

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/isa/program.h"

namespace heddle {

/// True if the blocks of a launch can be executed in any order, or at the same time, with the same results, as far as
/// its instructions tell: a program whose blocks race for plain accesses is not recognised. Blocks of a cluster count
/// as one. False for programs that
/// * may wait for other blocks or see how far they are: volatile and ordered accesses to global memory, sleeping,
///   clocks, the numbers of SMs and warp slots,
/// * combine values in an order that shows: atomics whose results are used, exchanges, floating-point sums,
/// * call the device runtime (printf, malloc, free).
bool has_independent_blocks(const isa::program& p);

/// Whether an instruction is an atomic or reduction of integers whose order does not show but in its result.
bool commutes(const isa::instruction& i);

}  // namespace heddle

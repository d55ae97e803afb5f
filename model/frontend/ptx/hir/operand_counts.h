// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// Whether an instruction has no destination.
bool writes_nothing(ptx_op op);
bool takes_no_operands(ptx_op op);

/// Sources that an instruction without a rule of its own has at least and at most.
std::size_t least_sources(ptx_op op);
std::size_t most_sources(const hir_instruction& h);

/// Type of the k-th source, for literals.
isa::dtype source_type(const hir_instruction& h, std::size_t k);

}  // namespace heddle::ptx

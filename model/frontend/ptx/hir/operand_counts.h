// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// True if an instruction has no destination.
bool writes_nothing(ptx_op op);
bool takes_no_operands(ptx_op op);

/// The least and greatest number of sources of an instruction without its own rule.
std::size_t least_sources(ptx_op op);
std::size_t most_sources(const hir_instruction& h);

/// Type of the k-th source, for literals.
isa::dtype source_type(const hir_instruction& h, std::size_t k);

}  // namespace heddle::ptx

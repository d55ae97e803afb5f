// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// The greatest number of sources of an instruction without its own rule (the least: ptx_op_info).
std::size_t most_sources(const hir_instruction& h);

/// Type of the k-th source, for literals.
isa::dtype source_type(const hir_instruction& h, std::size_t k);

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "heddle/config/parameters.h"
#include "heddle/frontend/ptx/resolve/loaded_module.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

class parsed_modules;

/// Lowers one kernel, and the functions it reaches, to the machine program for this GPU. `max_registers` 0: the limit
/// of the GPU (and .maxnreg); otherwise allocation keeps to it and spills to local memory. Throws input_error: unknown
/// kernel (listing the kernels there are), unsupported instruction at FILE:LINE:COL, an instruction that the chip's
/// compute capability lacks, …; of these malformed_code for unknown instructions and names.
[[nodiscard]] std::shared_ptr<const isa::program> lower(const loaded_module& m, const std::string& kernel,
                                                        const gpu_config& gpu, unsigned max_registers = 0);

/// The same, or what an equal request with these `modules` has given as long as a caller holds it. Equal: the same tree
/// at the same addresses, the same kernel and limit, and a GPU whose parameters all have the same values.
[[nodiscard]] std::shared_ptr<const isa::program> lower(parsed_modules& modules, const loaded_module& m,
                                                        const std::string& kernel, const gpu_config& gpu,
                                                        unsigned max_registers);

}  // namespace heddle::ptx

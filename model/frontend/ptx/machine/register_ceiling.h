// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/config/parameters.h"
#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// Registers per thread with which an SM holds `blocks` blocks of `threads` threads, in whole units of allocation; 0:
/// it holds them with none.
unsigned registers_that_fit(const gpu_config& gpu, std::uint64_t threads, std::uint64_t blocks);

/// Registers per thread that a kernel may have on this GPU, by ptxas' rules. .maxntid or .reqntid: as many as let one
/// such block fit; with .minnctapersm so many of them, where the SM has room for their warps, else the directive says
/// nothing. .maxnreg takes the place of what .maxntid or .reqntid alone would leave. It counts from `least_maxnreg` on,
/// and not beyond what a thread can have.
unsigned register_ceiling(const gpu_config& gpu, const ast_function& kernel);

/// The directive from which register_ceiling() is: ".maxnreg", ".minnctapersm", ".maxntid" or ".reqntid"; "chip": none.
std::string limiting_directive(const gpu_config& gpu, const ast_function& kernel);

/// ptxas raises a smaller .maxnreg to this.
constexpr unsigned least_maxnreg = 24;

}  // namespace heddle::ptx

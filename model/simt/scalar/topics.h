// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/simt/warp/execute_function.h"

// Portable execution functions by topic: each function returns the implementation of an instruction of its topic, or
// null.

namespace heddle::simt {

execute_function select_integer(const isa::instruction& i);           // integer.cpp
execute_function select_bits(const isa::instruction& i);              // bits.cpp
execute_function select_float32(const isa::instruction& i);           // float32.cpp
execute_function select_float64(const isa::instruction& i);           // float64.cpp
execute_function select_half(const isa::instruction& i);              // half.cpp
execute_function select_conversion(const isa::instruction& i);        // conversion.cpp
execute_function select_special_function(const isa::instruction& i);  // special_functions.cpp
execute_function select_assist(const isa::instruction& i);            // assist.cpp
execute_function select_memory(const isa::instruction& i);            // memory.cpp
execute_function select_shuffle_vote(const isa::instruction& i);      // shuffle_vote.cpp
execute_function select_special_register(const isa::instruction& i);  // special_register.cpp
execute_function select_tensor(const isa::instruction& i);            // tensor.cpp
execute_function select_texture(const isa::instruction& i);           // texture.cpp

/// LDSM: loads the matrices whose rows are at these checked addresses in shared memory.
void load_matrices(const isa::instruction& i, warp_state& w, lane_mask mask,
                   const std::uint64_t addresses[warp_size]);  // tensor.cpp

/// MUFU.SIN and MUFU.COS for angles of any magnitude.
void trigonometric_of_any_angle(const isa::instruction& i, warp_state& w, lane_mask mask);  // special_functions.cpp

}  // namespace heddle::simt

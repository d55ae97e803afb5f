// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/print_format.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sub_partition/program_services.h"
#include "heddle/tlm/protocol/fault_details.h"

// Routines of the CUDA device runtime. SYSCALL stands for the code that a call of printf, malloc or free executes.

namespace heddle {

/// Reads one byte of the thread's local memory; returns false if the offset is outside it.
using local_reader = std::function<bool(std::uint64_t offset, std::uint8_t* to)>;

/// Reader of a lane's generic addresses: shared memory of its block, local memory, device memory. It throws
/// program_error for an address in none of them.
simt::lane_reader lane_memory(const simt::warp_state& w, program_services& services, local_reader local);

/// Executes SYSCALL for the lanes of `mask`; `memory_of` returns a lane's reader. Throws program_error (text without
/// place) with `bad_lane` set.
void system_call(program_services& services, const std::function<simt::lane_reader(unsigned lane)>& memory_of,
                 const isa::instruction& i, simt::warp_state& w, simt::lane_mask mask, unsigned& bad_lane);

/// Details of a failed assertion: ": TEXT (FILE:LINE, FUNCTION)". Shared and local memory are read now.
fault_details assertion_details(const simt::lane_reader& read, const isa::instruction& i, const simt::warp_state& w,
                                unsigned lane);

}  // namespace heddle

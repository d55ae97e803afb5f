// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/print_format.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sub_partition/program_services.h"
#include "heddle/tlm/protocol/fault_details.h"

// Routines of the device runtime: SYSCALL stands for the code that a call of printf, malloc or free runs.

namespace heddle {

/// Reads one byte of the thread's local memory. False: there is none.
using local_reader = std::function<bool(std::uint64_t offset, std::uint8_t* to)>;

/// What a lane finds at generic addresses: shared memory of its block, local memory, device memory. It throws
/// program_error where there is none.
simt::lane_reader lane_memory(const simt::warp_state& w, program_services& services, local_reader local);

/// Carries out SYSCALL for the lanes of `mask`; `memory_of` gives a lane's memory. Throws program_error (text without
/// place) with `bad_lane` set.
void system_call(program_services& services, const std::function<simt::lane_reader(unsigned lane)>& memory_of,
                 const isa::instruction& i, simt::warp_state& w, simt::lane_mask mask, unsigned& bad_lane);

/// Of an assertion that failed: ": TEXT (FILE:LINE, FUNCTION)". Shared memory and the thread's own are as they are now.
fault_details assertion_details(const simt::lane_reader& read, const isa::instruction& i, const simt::warp_state& w,
                                unsigned lane);

}  // namespace heddle

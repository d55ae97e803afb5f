// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heddle/simt/warp/warp_state.h"

// Messages for failures of the simulated program, common to all executors.

namespace heddle::simt {

/// "FILE:LINE:COLUMN: WHAT in kernel 'K', block (x,y,z), thread (x,y,z)".
struct fault_text {
  std::string text;
  std::size_t front = 0;  // length up to the end of WHAT; details are inserted there
};
fault_text describe_fault(const launch_context& launch, const dim3& block, std::uint32_t thread,
                          const isa::instruction& i, const std::string& what);

/// Message of a TRAP.
const char* trap_text(const isa::instruction& i);

/// An access of `bytes` bytes per lane to a global address that is misaligned or not mapped; `access`: "load", "store"
/// or "atomic".
std::string global_fault(const char* access, bool misaligned, std::uint64_t address, unsigned bytes);
/// An access that is outside the thread's local memory, or misaligned.
std::string local_fault(std::uint64_t offset, unsigned bytes);
/// A load outside its constant bank.
std::string constant_fault(std::uint64_t offset, unsigned bytes, std::uint64_t bank_bytes);

/// For each group of a warp's lanes, where it is and what it waits for, for messages: "lanes 0x0000ffff, waits at
/// barrier 1, PLACE". `barrier`: for warps in lock step, the barrier at which they wait, or null.
std::vector<std::string> lane_places_of(const warp_state& w, const std::uint32_t* barrier,
                                        const std::function<std::string(std::uint32_t pc)>& place);

/// First lane of `mask` whose load of `bytes` bytes is not within a bank of `bank_bytes`; warp_size if there is none.
unsigned outside_bank(const std::uint64_t addresses[warp_size], lane_mask mask, unsigned bytes,
                      std::uint64_t bank_bytes);

}  // namespace heddle::simt

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heddle/simt/warp/warp_state.h"

// How failures of the simulated program are told, whoever executes it.

namespace heddle::simt {

/// "FILE:LINE:COLUMN: WHAT in kernel 'K', block (x,y,z), thread (x,y,z)".
struct fault_text {
  std::string text;
  std::size_t front = 0;  // characters up to and with WHAT: details go there
};
fault_text describe_fault(const launch_context& launch, const dim3& block, std::uint32_t thread,
                          const isa::instruction& i, const std::string& what);

/// What a TRAP says.
const char* trap_text(const isa::instruction& i);

/// An access of `bytes` bytes a lane to a global address that is misaligned or mapped nowhere; `access`: "load",
/// "store" or "atomic".
std::string global_fault(const char* access, bool misaligned, std::uint64_t address, unsigned bytes);
/// One beyond the thread's local memory, or misaligned.
std::string local_fault(std::uint64_t offset, unsigned bytes);
/// A load beyond its constant bank.
std::string constant_fault(std::uint64_t offset, unsigned bytes, std::uint64_t bank_bytes);

/// What each group of a warp's lanes waits for and where, for messages: "lanes 0x0000ffff, waits at barrier 1, PLACE".
/// Of warps in lock step `barrier` is the one at which they wait, if they do.
std::vector<std::string> standing_of(const warp_state& w, const std::uint32_t* barrier,
                                     const std::function<std::string(std::uint32_t pc)>& place);

/// The member of `addresses` on lanes of `mask` that no load of `bytes` bytes from a bank of `bank_bytes` may have;
/// warp_size: none.
unsigned outside_bank(const std::uint64_t addresses[warp_size], lane_mask mask, unsigned bytes,
                      std::uint64_t bank_bytes);

}  // namespace heddle::simt

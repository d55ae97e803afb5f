// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <systemc>

namespace heddle {

class l2_cache;
class memory_model;
class sm;

/// With nothing in flight, what each level of the memory path has sent must equal what the next one has received.
/// `channels` is empty for external memory, which has its own counters. `ended_passes`: over shared memory, of
/// instructions of which the SMs have no counts any more (ended_profile). Throws internal_error.
void check_conservation(const sc_core::sc_vector<sm>& sms, const sc_core::sc_vector<l2_cache>& slices,
                        const sc_core::sc_vector<memory_model>& channels, std::uint64_t ended_passes);

}  // namespace heddle

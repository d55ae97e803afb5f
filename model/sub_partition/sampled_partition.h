// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <systemc>

#include "heddle/simt/warp/warp_state.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

class dependence;
class execution_unit;
class fetch;
class register_file;
class stall_account;
class warp_scheduler;
class warp_table;

/// What partition_signals samples of a sub-partition: its units, and its last issue.
struct sampled_partition {
  unsigned partitions;  // of the SM
  const warp_table& warps;
  const unsigned& issued;  // instructions issued in cycle `issued_at`
  const cycle_t& issued_at;
  const unsigned& issued_warp;
  const std::uint32_t& issued_pc;
  const simt::lane_mask& issued_mask;
  const unsigned& conflicts;  // extra operand-read cycles of the instruction issued in `conflicts_at`
  const cycle_t& conflicts_at;
  const warp_scheduler& scheduler;
  const class fetch& fetch;
  const class dependence& dependence;
  const class register_file& register_file;
  const stall_account& account;
  const std::deque<execution_unit>& units;
  const sc_core::sc_vector<execution_unit>& shared_unit;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <deque>

#include "heddle/isa/opcode.h"

namespace heddle {

class dependence;
class execution_unit;
class fetch;
struct last_issue;
class register_file;
class stall_account;
class warp_scheduler;
class warp_table;

/// What partition_signals samples of a sub-partition: its units, and its last issue.
struct sampled_partition {
  unsigned partitions;  // of the SM
  const warp_table& warps;
  const last_issue& last;
  const warp_scheduler& scheduler;
  const class fetch& fetch;
  const class dependence& dependence;
  const class register_file& register_file;
  const stall_account& account;
  const std::array<execution_unit, static_cast<std::size_t>(isa::unit::count)>& units;
  const std::deque<execution_unit>& shared_unit;
};

}  // namespace heddle

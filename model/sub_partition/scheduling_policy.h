// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle {

/// Chooses, each cycle, the warp that issues among the eligible ones of a sub-partition. Warps are named by their slot
/// in the sub-partition (bit in a mask).
class scheduling_policy {
 public:
  virtual ~scheduling_policy() = default;
  /// The slot to issue from; `eligible` is never empty.
  virtual unsigned select(std::uint64_t eligible, std::uint64_t cycle) = 0;
  /// A warp was placed in a slot (the later, the younger).
  virtual void placed(unsigned slot, std::uint64_t cycle) { (void)slot, (void)cycle; }
};

/// The policy of a name in the INI (`sub_partition.scheduler`). Throws input_error listing the names there are.
std::unique_ptr<scheduling_policy> make_scheduling_policy(const std::string& name, unsigned slots);
/// Names of the policies there are.
std::vector<std::string> scheduling_policies();

}  // namespace heddle

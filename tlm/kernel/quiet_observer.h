// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

/// Learns that a clock domain has become quiet.
class quiet_observer {
 public:
  /// A cycle has left the domain without a unit that asks for a cycle in the future.
  virtual void clock_quiet() = 0;

 protected:
  ~quiet_observer() = default;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

/// Interface to the observer that may end a launch that is executed functionally.
class functional_observer {
 public:
  virtual ~functional_observer() = default;
  /// Called repeatedly while the launch executes; true ends it.
  virtual bool wants_stop() = 0;
  /// True while others may write memory that blocks wait for, so that a wait without end is none yet. Called by several
  /// threads.
  [[nodiscard]] virtual bool others_may_write() const { return false; }
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

/// Learns that one flush has ended: an object for each flush that may be outstanding. It may end itself in flushed().
class flush_observer {
 public:
  /// All bytes that were dirty when the flush began are in memory.
  virtual void flushed() = 0;

 protected:
  ~flush_observer() = default;
};

}  // namespace heddle

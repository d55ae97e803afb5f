// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

/// Interface to the observer that may end a launch that is executed functionally.
class functional_observer {
 public:
  /// Called repeatedly while the launch executes; true ends it.
  virtual bool wants_stop() = 0;

 protected:
  ~functional_observer() = default;
};

}  // namespace heddle

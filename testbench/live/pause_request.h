// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::testbench {

/// Requests to pause the simulation at the end of the present time. After sc_start() SystemC does not say whether it
/// has returned for one or for its time.
class pause_request {
 public:
  static void make();
  /// True if one was made since the last call.
  static bool take();
};

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle {

/// Learns of writes whose bytes are lost.
class lost_write_observer {
 public:
  /// The memory answered a write with an error. `text` names the line and the reason.
  virtual void write_lost(const std::string& text) = 0;

 protected:
  ~lost_write_observer() = default;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle {

/// Interface to the receiver of the text that kernels print.
class print_observer {
 public:
  virtual void printed(const std::string& text) = 0;

 protected:
  ~print_observer() = default;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "heddle/config/error.h"

namespace heddle::testbench {

/// An error in the command line. The hint, where to find the correct usage, is a separate line after the message.
class usage_error : public input_error {
 public:
  usage_error(const std::string& message, std::string hint) : input_error(message), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

}  // namespace heddle::testbench

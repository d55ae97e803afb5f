// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "heddle/config/error.h"

namespace heddle::testbench {

/// A command line that is wrong, and where it is told how it should be: a line of its own after the message.
class usage_error : public input_error {
 public:
  usage_error(const std::string& message, std::string hint) : input_error(message), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

}  // namespace heddle::testbench

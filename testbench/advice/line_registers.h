// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

namespace heddle::testbench {

/// What a line of PTX reads and writes.
struct registers_of_line {
  std::set<std::string> written, read;
  std::set<std::string> address;  // of those read, in brackets
};

registers_of_line registers_in(const std::string& text);

/// Whether a register is in both.
bool meets(const std::set<std::string>& a, const std::set<std::string>& b);

}  // namespace heddle::testbench

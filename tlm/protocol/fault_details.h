// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// Parts of a failure's text that lie in device memory. An SM that is simulated ahead of the others cannot read them,
/// since memory may still change before its time is reached. The receiver of the failure reads them, and leaves all of
/// them out if one cannot be read.
struct fault_details {
  struct part {
    std::string text;           // the text itself; if empty:
    std::uint64_t address = 0;  // address of a zero-terminated text
  };
  std::vector<part> parts;
  std::size_t at = 0;  // position of the parts in the failure's text
};

}  // namespace heddle

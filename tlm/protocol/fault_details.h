// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// What the text of a failure also says, but that lies in device memory. An SM that is simulated ahead of the others
/// cannot read it: memory may still change before its time comes. Whoever hears of the failure does, and leaves all of
/// it out if some cannot be read.
struct fault_details {
  struct piece {
    std::string text;           // as it is; or, if empty,
    std::uint64_t address = 0;  // where a text lies that ends with a zero byte
  };
  std::vector<piece> pieces;
  std::size_t at = 0;  // where in the text of the failure they belong
};

}  // namespace heddle

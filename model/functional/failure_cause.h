// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

/// What has ended a launch that is executed functionally, as far as it is known by more than its text.
struct failure_cause {
  enum class kind : std::uint8_t {
    other,
    constant,  // an address in a constant bank
    barrier,   // a block waits at barriers, of which none can complete
    spinning   // all warps loop without effect, or wait at barriers
  };
  kind what = kind::other;
  std::uint32_t instruction = 0;  // index
  std::uint32_t thread = 0;       // of the block
  std::uint64_t block = 0;
  std::string text;  // of an instruction: what is wrong
};

}  // namespace heddle

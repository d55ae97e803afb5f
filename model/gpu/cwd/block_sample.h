// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle {

/// What blocks have executed: warp instructions, or records of a trace.
struct executed_blocks {
  std::uint64_t instructions = 0;
  std::uint64_t most = 0;  // of one block
};

/// What the simulated blocks of a launch tell of all its blocks.
struct block_sample {
  static constexpr double confidence = 0.95;
  std::uint64_t simulated_blocks = 0;
  double cycles = 0;              // of the whole launch, estimated
  double error = 0;               // half of the confidence interval, relative to `cycles`; 0: all were simulated
  std::uint64_t steady_from = 0;  // how many blocks had ended when the steady state began; 0: none was found
};

}  // namespace heddle

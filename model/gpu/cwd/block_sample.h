// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

namespace heddle {

/// What blocks have executed: warp instructions, or records of a trace.
struct executed_blocks {
  std::uint64_t instructions = 0;
  std::uint64_t most = 0;                       // of one block
  std::optional<std::uint64_t> missed_sectors;  // in the L2; none: without timing it is not known
};

/// How a launch uses the L2.
struct cache_use {
  double touched = 0;                // share of it that holds lines which were accessed since the launch began
  std::uint64_t missed_sectors = 0;  // since the start of the simulation
};

/// What is asked of the L2.
class sampled_cache {
 public:
  /// A launch begins that may be sampled.
  virtual void launch_begins() = 0;
  [[nodiscard]] virtual cache_use use_now() const = 0;

 protected:
  ~sampled_cache() = default;
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

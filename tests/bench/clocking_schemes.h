// SPDX-License-Identifier: MIT
// The ways of giving cycles to 80 SMs of 4 sub-partitions that docs/decisions/0001-clocking.md compares.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::bench {

/// Which sub-partitions want which cycles.
enum class load {
  all,     // every one, every cycle
  tenth,   // every tenth one, every cycle; the others sleep for ever
  asleep,  // each sleeps 300 to 500 cycles at a time
};

/// What one run came to. Schemes that were given the same load must agree on all but the time.
struct outcome {
  double seconds = 0;
  std::uint64_t cycles = 0;
  std::uint64_t activations = 0;
  std::uint64_t checksum = 0;
};

struct scheme {
  std::string name;
  /// Elaborates, simulates `cycles` cycles and measures; once a process, for SystemC elaborates only once.
  std::function<outcome(load, std::uint64_t cycles)> run;
};

/// The schemes; the first is the floor: the same work called from a plain loop.
std::vector<scheme> clocking_schemes();

/// CPU time of this process in seconds.
double cpu_seconds();

}  // namespace heddle::bench

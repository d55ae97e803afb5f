// SPDX-License-Identifier: MIT
// What a transaction costs between one module and another, by the kind of connection.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/clocking_schemes.h"

namespace heddle::bench {

struct hop {
  std::string name;
  /// Passes `count` transactions and measures; once a process. `activations` is the number that arrived.
  std::function<outcome(std::uint64_t count)> run;
};

/// One-way hops: a call and its return.
std::vector<hop> single_hops();
/// Round trips between two modules with a latency of 30 cycles: one at a time, and one a cycle.
std::vector<hop> round_trips();

}  // namespace heddle::bench

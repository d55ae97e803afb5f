// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "testbench/correlate/correlation_runs.h"
#include "testbench/options/options.h"
#include "testbench/sweep/store/result_store.h"

namespace heddle::testbench {

/// How runs are made.
struct run_manner {
  unsigned jobs = 0;  // at a time; 0: one a core
  std::uint64_t timeout_seconds = 0;
  bool again = false;  // also those that the store holds but that are not done
  progress_mode progress = progress_mode::automatic;
};

/// Makes those runs that the store does not hold; runs with equal ids are one. Returns the signal that stopped it; 0:
/// none.
int run_missing(const correlation_runs& runs, const result_store& store, const run_manner& how);

/// Ends the program by a signal that stopped run_missing(). `kept`: the store is the user's, and remains.
[[noreturn]] void end_by(int signal, bool kept);

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// The number of cores on which this process may run, at least 1: its affinity, within its control group's quota.
[[nodiscard]] unsigned host_cores();

/// The cores of a quota as a control group's `cpu.max` states it ("QUOTA PERIOD" or "max PERIOD"), rounded down, at
/// least 1; 0: no limit.
[[nodiscard]] unsigned cores_of_quota(const std::string& text);

/// Runnable processes of the whole host, this one included, as `/proc/stat` states them; 0: it does not.
[[nodiscard]] unsigned running_processes(const std::string& text);

/// The host threads of a run that names no number: those of HEDDLE_THREADS, else as many as there are cores without
/// work at this moment, at most 16. Throws input_error if HEDDLE_THREADS is no number from 1 to 256.
[[nodiscard]] unsigned usual_threads();

constexpr unsigned most_threads = 256;       // that --threads takes
constexpr unsigned most_usual_threads = 16;  // where no number is given

}  // namespace heddle::testbench

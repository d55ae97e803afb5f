// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/config/parameters.h"
#include "testbench/job/job.h"
#include "testbench/options/options.h"

namespace heddle::testbench {

/// How long each client of the job takes if it is the only one that launches something, on the same machine, with the
/// same share of it: core cycles from its first doorbell to the end of its last launch; 0: it launches nothing, or
/// fails, of which a warning tells. Each is simulated in a process of its own, which writes no results. As many run at
/// a time as the run has host threads, which they divide among them. They end with this process. Throws input_error if
/// the job has no clients, or no process can be started.
std::vector<std::uint64_t> cycles_alone(const run_options& o, const job& j, const gpu_config& config);

}  // namespace heddle::testbench

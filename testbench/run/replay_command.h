// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/frontend/sass_trace/replay/trace_store.h"
#include "testbench/job/job.h"

namespace heddle::testbench {

/// `heddle replay`. Returns the exit code; throws input_error.
int replay_command(const std::vector<std::string>& arguments);

/// The job that replays a list of kernels. Reads all traces to their ends, so that nothing is simulated of a list that
/// holds a bad one. Throws input_error; `strict`: also for an opcode that is not known. `memory_mib`: for the blocks
/// that run.
job job_of_traces(const std::string& kernels_list, bool strict,
                  std::uint64_t memory_mib = sass_trace::trace_store::usual_mib);

}  // namespace heddle::testbench

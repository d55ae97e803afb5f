// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heddle/frontend/sass_trace/replay/trace_store.h"
#include "testbench/job/job.h"

namespace heddle::testbench {

/// `heddle replay`. Returns the exit code; throws input_error.
int replay_command(const std::vector<std::string>& arguments);
/// The same, from where the checkpoint says that the run stood; null: from its begin.
int replay_from(const std::vector<std::string>& arguments, std::shared_ptr<const checkpoint> from);

/// The job that replays a list of kernels. All traces are read to their ends first, so a list with a bad trace is
/// rejected before the simulation. Throws input_error; with `strict` also for an unknown opcode. `memory_mib`: memory
/// limit for the traces of running blocks.
job job_of_traces(const std::string& kernels_list, bool strict,
                  std::uint64_t memory_mib = sass_trace::trace_store::usual_mib);

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "testbench/files/file_roles.h"
#include "testbench/job/job.h"
#include "testbench/options/options.h"
#include "testbench/run/run_signals.h"

namespace heddle::testbench {

/// `heddle run`. Returns the exit code; throws input_error.
int run_command(const std::vector<std::string>& arguments);
/// The same, from where the checkpoint says that the run stood; null: from its begin.
int run_from(const std::vector<std::string>& arguments, std::shared_ptr<const checkpoint> from);
/// Throws input_error if the run that resumes is another one than that of its checkpoint.
void check_resumed(const run_options& o, const job& j, const gpu_config& config);

/// The job that the options name: a job file, or one launch. Call validate() afterwards. Throws input_error.
job make_job(const run_options& o);
/// Checks that result files can be written and that each is distinct from the other results and from the inputs: the
/// job's files and those in `roles`. Throws input_error.
void check_result_files(const run_options& o, const job& j, file_roles roles);
/// The configuration that the options name, checked to be one that this program can simulate. Adds the files it is
/// read from to `roles`. Throws input_error.
gpu_config machine_of(const run_options& o, file_roles& roles);
/// Simulates the job, or the part of it before a signal stops it, and reports the result. Returns the exit code;
/// throws input_error.
int simulate(const run_options& o, const job& j, const gpu_config& config, run_signals& signals);

}  // namespace heddle::testbench

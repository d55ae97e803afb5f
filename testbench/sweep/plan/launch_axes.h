// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/job/job.h"

namespace heddle::testbench {

/// Names of the axes that change a job: "launch.block", "preempt.mode", …
std::vector<std::string> launch_axes();
bool is_launch_axis(const std::string& name);
/// Whether the values of such an axis are numbers, or null.
bool has_numbers(const std::string& name);

/// Throws input_error, without a position, for a value that the axis cannot have in any job.
void check_launch_value(const std::string& name, const std::string& value);
/// Throws input_error, without a position, if the axis has nothing to change in this job.
void check_launch_axis(const std::string& name, const job& j);

/// Changes every launch, or every preemption, of the job. With `launch.block` the grid is adapted, so that each
/// dimension has at least as many threads as before; a plain number is the block size, reached by changing the block's
/// first dimension. Throws input_error if a launch cannot have the value.
void apply_launch_axis(const std::string& name, const std::string& value, job& j);

}  // namespace heddle::testbench

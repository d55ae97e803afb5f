// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/job/job.h"

namespace heddle::testbench {

/// Names of the axes that change a job: "launch.block", "preempt.mode", …
const std::vector<std::string>& launch_axes();
bool is_launch_axis(const std::string& name);

/// Throws input_error, without a place, for a value that the axis cannot have whatever the job.
void check_launch_value(const std::string& axis, const std::string& value);
/// Throws input_error, without a place, when the axis has nothing to change in such a job.
void check_launch_axis(const std::string& axis, const job& j);

/// Changes every launch, or every preemption, of the job. With `launch.block` the grid follows, so that threads stay at
/// least the same in each dimension; a plain number is the whole block, of whose dimensions the first is changed.
/// Throws input_error where a launch cannot have the value.
void apply_launch_axis(const std::string& axis, const std::string& value, job& j);

}  // namespace heddle::testbench

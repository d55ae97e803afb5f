// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/sampling/launches/launch_list.h"
#include "testbench/sampling/strata/sample.h"

namespace heddle::testbench {

/// Finds the layer of each launch in the name of its range or of its kernel, by a regular expression (ECMAScript) with
/// one group, which is the layer. Kernels whose names differ only in the layer become one, with '*' in its place.
/// Empty: by the usual expression, if that finds two layers at least. Throws input_error for an expression that is
/// wrong, or that no name matches.
void find_layers(launch_list& list, const std::string& expression);

/// The sum of each layer's launches, in the order of the layers; launches without one are the last part. A launch that
/// was not simulated counts as the mean of its stratum. Empty if the list has no layers.
std::vector<workload_estimate::part> layers_of(const launch_list& list, const sample& from, const launch_values& values,
                                               double confidence);

}  // namespace heddle::testbench

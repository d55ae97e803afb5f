// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// Whether a file is a database, by its first bytes.
bool is_store(const std::string& file);

/// What the page shows of a sweep's store, as JSON: each sweep with its axes, its points and their metrics. Of sweeps
/// that name no metrics those of kernels as wholes, no series and no single lines. Throws input_error.
std::string report_of_store(const std::string& file);

}  // namespace heddle::testbench

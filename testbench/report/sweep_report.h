// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// True if the first bytes of the file are those of a database.
bool is_store(const std::string& file);

/// The content of the page for a sweep's store, as JSON: each sweep with its axes, points and metrics. For a sweep
/// that names no metrics, only totals of kernels are included, not time series or values of single lines. Throws
/// input_error.
std::string report_of_store(const std::string& file);

}  // namespace heddle::testbench

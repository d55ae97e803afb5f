// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::testbench {

/// The outcome of a point.
enum class point_status : std::uint8_t {
  missing,  // not run, or the outcome is unknown
  done,
  refused,  // it cannot run: a block that fits no SM, inconsistent values
  failed,   // the simulated program failed
  fault,    // a defect in Heddle
  timeout,  // it exceeded the time limit of the sweep
  killed,   // its process was killed from outside
  stopped,  // it reached its limit of cycles (of a sweep's point that is a failure)
};
constexpr std::size_t point_status_count = 8;

/// "done"; the names are those of the store and the CSV.
const char* name_of(point_status status);
/// `missing` for an unknown name.
point_status status_of(const std::string& name);

/// The result of one point.
struct point_result {
  point_status status = point_status::missing;
  std::string reason;   // empty if it is done
  std::string metrics;  // JSON without values that depend on the machine; empty: none
};

}  // namespace heddle::testbench

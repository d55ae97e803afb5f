// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::testbench {

/// What became of a point.
enum class point_status : std::uint8_t {
  missing,  // not run, or nothing is known of how it went
  done,
  refused,  // it cannot run: a block that fits no SM, values that do not fit each other
  failed,   // the simulated program failed
  fault,    // in Heddle
  timeout,  // it ran longer than the sweep allows
  killed,   // its process was ended by somebody else
};
constexpr std::size_t point_status_count = 7;

/// "done"; the words are those of the store and the CSV.
const char* name_of(point_status status);
/// missing for a word that is none.
point_status status_of(const std::string& name);

/// The row of one point.
struct point_result {
  point_status status = point_status::missing;
  std::string reason;   // empty where it is done
  std::string metrics;  // JSON without what depends on the machine; empty: none
};

}  // namespace heddle::testbench

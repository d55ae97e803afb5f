// SPDX-License-Identifier: MIT
#include "testbench/sweep/store/point_result.h"

namespace heddle::testbench {

namespace {

constexpr const char* names[point_status_count] = {"missing", "done",    "refused", "failed",
                                                   "fault",   "timeout", "killed",  "stopped"};

}  // namespace

const char* name_of(point_status status) { return names[static_cast<std::size_t>(status)]; }

point_status status_of(const std::string& name) {
  for (std::size_t i = 0; i < point_status_count; ++i)
    if (name == names[i]) return static_cast<point_status>(i);
  return point_status::missing;
}

}  // namespace heddle::testbench

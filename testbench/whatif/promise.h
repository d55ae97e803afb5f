// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "testbench/whatif/candidates.h"

namespace heddle::testbench {

/// The changes in the order of what they promise, advice first: those of units for which the warps of a run (`metrics`)
/// wait long come before others; the direction that may be faster before choices, and these before the other direction;
/// of a unit its clock and size before the rest. Room for more warps comes late if it does not limit them.
std::vector<candidate> by_promise(std::vector<candidate> all, const nlohmann::ordered_json& metrics);

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/advice/speed_of_light.h"
#include "testbench/report/change_text.h"

namespace heddle::testbench {

/// Changes that would widen a part of speed_of_light(), the most effective first; only parameters that the machine
/// has.
std::vector<change> changes_for_resource(const std::string& resource, const nlohmann::ordered_json& kernel,
                                         const machine_parameters& machine);
/// The same for changes that would shorten a wait (a key of `warp_states`).
std::vector<change> changes_for_wait(const std::string& state, const nlohmann::ordered_json& kernel,
                                     const machine_parameters& machine);
/// The name of a wait in a verdict; empty if no rule knows it.
std::string name_of_wait(const std::string& state);
/// Changes that would shorten the launch latency.
std::vector<change> changes_for_launch(const machine_parameters& machine);

/// All changes that any rule could propose on this machine, for a test that the machine accepts them.
std::vector<change> all_changes(const machine_parameters& machine);

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "testbench/report/speed_of_light.h"

namespace heddle::testbench {

/// A parameter that would make a busy part wider or a wait shorter.
struct change {
  std::string key;
  nlohmann::ordered_json from;
  nlohmann::ordered_json to;
  std::string why;
  /// Parameters that must change along.
  std::vector<std::pair<std::string, nlohmann::ordered_json>> also;
};

/// The options of the command line that make it: `--set KEY=VALUE`, and those of `also`.
std::string options_of(const change& c);
/// A parameter's value as the command line takes it.
std::string value_text(const nlohmann::ordered_json& value);

/// What would widen a part of speed_of_light(), most telling first, and only what the machine has.
std::vector<change> changes_for_resource(const std::string& resource, const nlohmann::ordered_json& kernel,
                                         const machine_parameters& machine);
/// What would shorten a wait (a key of `warp_states`), likewise.
std::vector<change> changes_for_wait(const std::string& state, const nlohmann::ordered_json& kernel,
                                     const machine_parameters& machine);
/// What a wait is called in a verdict; empty for one that the rules do not know.
std::string name_of_wait(const std::string& state);
/// A shorter launch.
std::vector<change> changes_for_launch(const machine_parameters& machine);

/// All that the rules could ever want changed on this machine, whatever the kernel does: for a test that the machine
/// takes it.
std::vector<change> all_changes(const machine_parameters& machine);

}  // namespace heddle::testbench

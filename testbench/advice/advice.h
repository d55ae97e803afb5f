// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/advice/speed_of_light.h"

namespace heddle::testbench {

/// What could be changed in a kernel, and what it would save. docs/use/advice.md has the rules, a kernel for each, and
/// the same kernel mended.
struct advice {
  std::string rule;     // "uncoalesced access"
  std::string place;    // "kernel.cu:12", or a line of the PTX; empty: the whole kernel
  std::string finding;  // "32 sectors an access where 4 would do"
  std::string remedy;
  double speedup = 1;  // estimated: the kernel's time now to that of the mended one
  std::string page{};  // "docs/use/advice/uncoalesced_access.md", which has the rule and a kernel mended
};

/// The failure of the program that ended this kernel of the metrics' `kernels`; empty: it has not failed.
std::string failure_of(const nlohmann::ordered_json& kernel);

/// What would make the kernel at least 3 % faster, most first; nothing for one that failed. `kernel`: an object
/// of the metrics' `kernels`.
std::vector<advice> advice_for(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

/// "kernel.cu:12: uncoalesced access: 32 sectors an access where 4 would do (about 2.1 times as fast)".
std::string text_of(const advice& a);

}  // namespace heddle::testbench

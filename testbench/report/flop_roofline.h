// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "testbench/advice/speed_of_light.h"

namespace heddle::testbench {

/// The roofline of floating-point operations (S. Williams et al., Communications of the ACM 52(4), 2009; by level of
/// memory as C. Yang et al., PMBS 2020): operations per second over operations per byte that a level moved. An object
/// with `rate`, `work` (by unit: name, flops), `ceilings` (name, peak operations per second) and `levels` (name, bytes,
/// peak bytes per second, intensity). Null: the metrics do not count operations, or there are none.
/// docs/use/report.md has the formulas.
nlohmann::ordered_json flop_roofline(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

}  // namespace heddle::testbench

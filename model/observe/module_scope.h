// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <systemc>
#include <vector>

namespace heddle {

/// The modules at and below `top` whose hierarchical names fit one of the globs of `scope`, which commas part; each
/// once, in the order of the hierarchy. Throws input_error for a glob that fits none.
std::vector<const sc_core::sc_object*> modules_in_scope(const sc_core::sc_object& top, const std::string& scope);

}  // namespace heddle

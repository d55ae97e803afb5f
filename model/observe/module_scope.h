// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <systemc>
#include <vector>

namespace heddle {

/// The modules at and below `top` whose hierarchical names match one of the comma-separated globs of `scope`; each
/// once, in hierarchy order. Throws input_error for a glob that matches none.
std::vector<const sc_core::sc_object*> modules_in_scope(const sc_core::sc_object& top, const std::string& scope);

}  // namespace heddle

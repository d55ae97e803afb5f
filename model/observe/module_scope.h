// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <systemc>
#include <vector>

#include "heddle/tlm/port/module_part.h"

namespace heddle {

/// A module, or a part of one: the other pointer is null.
struct unit_in_scope {
  const sc_core::sc_object* module;
  const module_part* part;

  void trace(sc_core::sc_trace_file* file) const { module != nullptr ? module->trace(file) : part->trace(file); }
};

/// The modules at and below `top`, and their parts, whose hierarchical names match one of the comma-separated globs of
/// `scope`; each once, in hierarchy order. Throws input_error for a glob that matches none.
std::vector<unit_in_scope> units_in_scope(const sc_core::sc_object& top, const std::string& scope);

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/tlm/port/module_part.h"

#include "heddle/tlm/port/creation_scope.h"

namespace heddle {

std::string part_name::own() const { return number == no_number ? name : name + std::to_string(number); }

std::string part_name::full() const { return owner == nullptr ? own() : std::string(owner->name()) + "." + own(); }

std::vector<std::unique_ptr<part_object>> part_objects(sc_core::sc_module& owner) {
  std::vector<std::unique_ptr<part_object>> made;
  const creation_scope scope(owner);
  for (const module_part* part : dynamic_cast<const part_owner&>(owner).parts())
    made.push_back(std::make_unique<part_object>(part->own_name().c_str(), *part));
  return made;
}

void trace_parts_and_children(const part_owner& parts, const sc_core::sc_module& module, sc_core::sc_trace_file* file) {
  for (const module_part* part : parts.parts()) part->trace(file);
  for (const sc_core::sc_object* child : module.get_child_objects())
    if (dynamic_cast<const part_object*>(child) == nullptr) child->trace(file);
}

}  // namespace heddle

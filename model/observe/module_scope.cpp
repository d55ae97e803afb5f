// SPDX-License-Identifier: MIT
#include "heddle/observe/module_scope.h"

#include <fnmatch.h>

#include "heddle/config/error.h"

namespace heddle {

namespace {

std::vector<std::string> split_globs(const std::string& scope) {
  std::vector<std::string> globs;
  std::size_t from = 0;
  while (from <= scope.size()) {
    const std::size_t comma = std::min(scope.find(',', from), scope.size());
    if (comma > from) globs.push_back(scope.substr(from, comma - from));
    from = comma + 1;
  }
  return globs;
}

/// Notes in `used` which globs the name matches. True: at least one.
bool fits(const std::string& name, const std::vector<std::string>& globs, std::vector<bool>& used) {
  bool any = false;
  for (std::size_t k = 0; k < globs.size(); ++k) {
    if (fnmatch(globs[k].c_str(), name.c_str(), 0) == 0) any = used[k] = true;
  }
  return any;
}

void collect(const sc_core::sc_object& object, const std::vector<std::string>& globs, std::vector<bool>& used,
             std::vector<unit_in_scope>& found) {
  if (dynamic_cast<const part_object*>(&object) != nullptr) return;  // its part is found
  if (dynamic_cast<const sc_core::sc_module*>(&object) != nullptr && fits(object.name(), globs, used))
    found.push_back({&object, nullptr});
  if (const auto* const owner = dynamic_cast<const part_owner*>(&object))
    for (const module_part* part : owner->parts())
      if (fits(part->name(), globs, used)) found.push_back({nullptr, part});
  for (const sc_core::sc_object* child : object.get_child_objects()) collect(*child, globs, used, found);
}

}  // namespace

std::vector<unit_in_scope> units_in_scope(const sc_core::sc_object& top, const std::string& scope) {
  const std::vector<std::string> globs = split_globs(scope);
  std::vector<bool> used(globs.size());
  std::vector<unit_in_scope> found;
  collect(top, globs, used, found);
  for (std::size_t k = 0; k < globs.size(); ++k)
    if (!used[k])
      throw input_error("--trace-scope: '" + globs[k] +
                        "' fits no module, expected hierarchical names such as gpu.sm0* or gpu.l2_slice0");
  if (globs.empty()) throw input_error("--trace-scope: expected hierarchical names such as gpu.sm0* or gpu.l2_slice0");
  return found;
}

}  // namespace heddle

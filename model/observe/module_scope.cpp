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

void collect(const sc_core::sc_object& object, const std::vector<std::string>& globs, std::vector<bool>& used,
             std::vector<const sc_core::sc_object*>& found) {
  if (dynamic_cast<const sc_core::sc_module*>(&object) != nullptr) {
    bool fits = false;
    for (std::size_t k = 0; k < globs.size(); ++k) {
      if (fnmatch(globs[k].c_str(), object.name(), 0) != 0) continue;
      fits = true;
      used[k] = true;
    }
    if (fits) found.push_back(&object);
  }
  for (const sc_core::sc_object* child : object.get_child_objects()) collect(*child, globs, used, found);
}

}  // namespace

std::vector<const sc_core::sc_object*> modules_in_scope(const sc_core::sc_object& top, const std::string& scope) {
  const std::vector<std::string> globs = split_globs(scope);
  std::vector<bool> used(globs.size());
  std::vector<const sc_core::sc_object*> found;
  collect(top, globs, used, found);
  for (std::size_t k = 0; k < globs.size(); ++k)
    if (!used[k])
      throw input_error("--trace-scope: '" + globs[k] +
                        "' fits no module, expected hierarchical names such as gpu.sm0* or gpu.l2_slice0");
  if (globs.empty()) throw input_error("--trace-scope: expected hierarchical names such as gpu.sm0* or gpu.l2_slice0");
  return found;
}

}  // namespace heddle

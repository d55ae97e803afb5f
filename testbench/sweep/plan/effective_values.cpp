// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/effective_values.h"

#include "heddle/config/config.h"
#include "heddle/config/parameter_table.h"

namespace heddle::testbench {

effective_values::effective_values(const gpu_config& base) : base_(base), values_(base) {}

void effective_values::set(const overrides& changes) {
  values_ = base_;
  for (const bool determining : {true, false})  // what others determine does not replace a value of one's own
    for (const auto& [name, value] : changes)
      if (const parameter* p = find_parameter(name); p != nullptr && determines_others(*p) == determining)
        set_text(values_, *p, *value);
}

std::string effective_values::text(const overrides& changes) {
  set(changes);
  std::string all;
  for (const parameter& p : parameters()) all += p.name() + "=" + text_of(p, values_) + "\n";
  return all;
}

gpu_config effective_values::config(const overrides& changes) const {
  effective_values values(base_);
  values.set(changes);
  check(values.values_);
  return values.values_;
}

std::string effective_values::base(const std::string& name) const { return effective_values(base_).value(name, {}); }

std::string effective_values::value(const std::string& name, const overrides& changes) {
  const parameter* p = find_parameter(name);
  if (p == nullptr) return "";
  set(changes);
  return text_of(*p, values_);
}

}  // namespace heddle::testbench

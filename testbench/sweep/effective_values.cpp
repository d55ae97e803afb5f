// SPDX-License-Identifier: MIT
#include "testbench/sweep/effective_values.h"

#include "config/config.h"
#include "config/dram_presets.h"

namespace heddle::testbench {

effective_values::effective_values(const gpu_config& base) : base_(base), values_(base), parameters_(parameters_of(values_)) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) by_name_[parameters_[i].section + "." + parameters_[i].key] = i;
}

void effective_values::set(const overrides& changes) {
  values_ = base_;
  for (const auto& [name, value] : changes) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) continue;
    set_text(parameters_[found->second], *value);
    if (name == "dram.preset") apply_dram_preset(values_.dram);
  }
}

std::string effective_values::text(const overrides& changes) {
  set(changes);
  std::string all;
  for (const parameter_reference& p : parameters_) all += p.section + "." + p.key + "=" + text_of(p) + "\n";
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
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return "";
  set(changes);
  return text_of(parameters_[found->second]);
}

}  // namespace heddle::testbench

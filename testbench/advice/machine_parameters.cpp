// SPDX-License-Identifier: MIT
#include "testbench/advice/machine_parameters.h"

#include <fmt/format.h>

#include <variant>

#include "heddle/config/error.h"
#include "heddle/config/parameter_table.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

// As an INI file has it: 20 also for 20.0, which other programs write.
std::string ini_text(const json& v) {
  if (v.is_string()) return v.get<std::string>();
  return v.is_number() ? fmt::format("{}", v.get<double>()) : v.dump();
}

}  // namespace

machine_parameters::machine_parameters(const json& config) {
  if (!config.is_object()) return;
  for (const auto& item : config.items()) {
    values_.emplace(item.key(), item.value());
    // A value that this version does not know, such as the name of a later policy, leaves the default.
    if (const parameter* p = find_parameter(item.key())) (void)set_text({p, p->in(config_)}, ini_text(item.value()));
  }
}

const json& machine_parameters::value(const std::string& key) const {
  static const json none;
  const auto found = values_.find(key);
  return found == values_.end() ? none : found->second;
}

bool machine_parameters::is_set(const std::string& key) const {
  const parameter* p = find_parameter(key);
  if (p == nullptr) return false;
  const value_pointer v = p->in(const_cast<gpu_config&>(config_));  // for reading only
  const auto* flag = std::get_if<bool*>(&v);
  return flag != nullptr && **flag;
}

double machine_parameters::number(const std::string& key) const {
  const parameter* p = find_parameter(key);
  if (p == nullptr || !p->is_number()) throw internal_error("'" + key + "' is no parameter that is a number");
  const value_pointer v = p->in(const_cast<gpu_config&>(config_));  // for reading only
  if (const auto* whole = std::get_if<unsigned*>(&v)) return **whole;
  return **std::get_if<double*>(&v);
}

}  // namespace heddle::testbench

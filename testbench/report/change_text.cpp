// SPDX-License-Identifier: MIT
// Values of changes as JSON and as text.
#include <fmt/format.h>

#include <cmath>

#include "testbench/report/change_text.h"

namespace heddle::testbench {

using json = nlohmann::ordered_json;

json as_number(double value) {
  if (value == std::floor(value) && std::fabs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

std::string value_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  const json whole = as_number(value.get<double>());
  return whole.is_number_float() ? fmt::format("{}", whole.get<double>()) : whole.dump();
}

std::string options_of(const change& c) {
  std::string text = "--set " + c.key + "=" + value_text(c.to);
  for (const auto& [key, to] : c.also) text += " --set " + key + "=" + value_text(to);
  return text;
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
// What the rules of changes.cpp propose.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "heddle/config/parameter_table.h"
#include "testbench/advice/speed_of_light.h"
#include "testbench/report/change_text.h"

namespace heddle::testbench {

using found = std::optional<change>;

/// A kernel with its machine, for which the rules look for changes.
struct judged {
  const nlohmann::ordered_json& kernel;
  const machine_parameters& machine;

  [[nodiscard]] const gpu_config& config() const { return machine.config(); }
  double number(const char* key) const { return machine.number(key); }
  [[nodiscard]] double of_kernel(std::initializer_list<const char*> path) const { return number_at(kernel, path); }
  double instructions(const char* unit) const { return number_at(kernel, {"instructions", unit}); }
};

/// The name of a choice of this parameter.
template <class E>
std::string name_of(const char* key, E choice) {
  return find_parameter(key)->choices.at(static_cast<std::size_t>(choice));
}

using lister = std::vector<change> (*)(const judged&);

inline std::vector<change> first(std::initializer_list<found> all) {
  std::vector<change> out;
  for (const found& f : all)
    if (f) out.push_back(*f);
  return out;
}

inline found change_to(const judged& j, const std::string& key, const nlohmann::ordered_json& to, const char* why) {
  if (to.is_null() || !j.machine.has(key)) return std::nullopt;
  return change{key, j.machine.value(key), to, why, {}};
}

// Candidate changes: double, halve, or choose another value; none if the machine is at its limit.
inline found twice(const judged& j, const std::string& key, const char* why,
                   double most = std::numeric_limits<double>::infinity()) {
  const double now = j.machine.number(key);
  return now > 0 && now * 2 <= most ? change_to(j, key, as_number(now * 2), why) : std::nullopt;
}

inline found half(const judged& j, const std::string& key, const char* why) {
  const double now = j.machine.number(key);
  return now >= 2 ? change_to(j, key, as_number(std::floor(now / 2)), why) : std::nullopt;
}

// The access latency includes the address latency, which does not change.
inline found half_but_for_address(const judged& j, const std::string& key, const char* why) {
  const double now = j.machine.number(key), least = j.machine.number("ldst.address_latency_cycles") + 1;
  const double to = std::max(std::floor(now / 2), least);
  return now >= 2 && to < now ? change_to(j, key, as_number(to), why) : std::nullopt;
}

}  // namespace heddle::testbench

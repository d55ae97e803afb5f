// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/metric_path.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "heddle/config/message.h"
#include "heddle/config/suggestion.h"
#include "heddle/metrics/json.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::uint64_t most_index = 999'999'999;  // in a list

// An example of a metrics file with an element of every kind.
nlohmann::json make_example() {
  run_metrics m;
  kernel_metrics k;
  line_metrics line;
  line.text = " ";
  line.accesses = 1;
  k.lines = {line};
  k.energy.known = k.sampled.known = true;
  m.kernels = {k};
  m.energy.known = true;
  sm_metrics s;
  s.sub_partitions = {sub_partition_metrics()};
  s.warp_slots = {warp_slot_metrics()};
  m.sms = {s};
  m.context_switches.resize(1);
  m.context_switches[0].energy.known = true;
  return nlohmann::json::parse(to_json(m));
}

const nlohmann::json& example() {
  static const nlohmann::json all = make_example();
  return all;
}

}  // namespace

std::string wrong_metric_path(const std::string& path, const list_lengths& most) {
  const nlohmann::json* at = &example();
  std::string here, pattern;  // pattern: with '*' for indices
  for (const std::string& step : split(path, '.')) {
    std::uint64_t index = 0;
    const bool number = at->is_array();
    if (number) {
      if (!parse_unsigned(step, index) || index > most_index || (step.size() > 1 && step[0] == '0'))
        return "expected a number up to " + std::to_string(most_index) + ", not '" + printable(step) + "'";
      const auto limit = most.find(pattern);
      if (limit != most.end() && index >= limit->second)
        return "no point has '" + here + "." + printable(step) + "', " +
               (limit->second == 0 ? "'" + here + "' is empty"
                                   : "the last one is '" + here + "." + std::to_string(limit->second - 1) + "'");
      if (at->empty()) return "";  // a time series, of any length
      at = &(*at)[0];
    } else if (at->is_object() && at->contains(step)) {
      at = &(*at)[step];
    } else {
      std::vector<std::string> keys;
      if (at->is_object())
        for (const auto& item : at->items()) keys.push_back(item.key());
      return "there is no '" + printable(step) + "'" + suggestion(step, keys);
    }
    here += (here.empty() ? "" : ".") + step;
    pattern += (pattern.empty() ? "" : ".") + (number ? std::string("*") : step);
  }
  return at->is_structured() ? "expected the name of a single number" : "";
}

}  // namespace heddle::testbench

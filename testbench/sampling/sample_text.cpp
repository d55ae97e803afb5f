// SPDX-License-Identifier: MIT
#include "testbench/sampling/sample_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heddle/config/message.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t parts_shown = 20, longest_name = 48;

std::string short_name(const std::string& name) {
  const std::string text = printable(name);
  return text.size() <= longest_name ? text : text.substr(0, longest_name - 3) + "...";
}

json interval(const estimate& e) {
  json of = {{"cycles", e.value}, {"low", e.value - e.half_width}, {"high", e.value + e.half_width}};
  if (e.within > 0) of["within"] = e.within;
  return of;
}

// `what` the parts are: "kernel".
std::string table_text(const std::vector<workload_estimate::part>& parts, double whole, const std::string& what) {
  if (parts.empty()) return "";
  std::string text =
      fmt::format("{:>10} {:>9} {:>7} {:>16} {:>9}  {}\n", "launches", "simulated", "share", "cycles", "error", what);
  for (std::size_t k = 0; k < std::min(parts_shown, parts.size()); ++k) {
    const workload_estimate::part& of = parts[k];
    text += fmt::format("{:>10} {:>9} {:>7} {:>16} {:>9}  {}\n", grouped(of.launches), grouped(of.simulated),
                        percent(of.of.value / whole), grouped(static_cast<std::uint64_t>(std::llround(of.of.value))),
                        percent(of.of.error()), of.name.empty() ? "(none)" : short_name(of.name));
  }
  if (parts.size() > parts_shown) text += fmt::format("and {} more {}s\n", grouped(parts.size() - parts_shown), what);
  return text;
}

json table_json(const std::vector<workload_estimate::part>& parts) {
  json all = json::array();
  for (const workload_estimate::part& p : parts) {
    json of = {{"name", p.name}, {"launches", p.launches}, {"simulated", p.simulated}};
    of.update(interval(p.of));
    all.push_back(std::move(of));
  }
  return all;
}

}  // namespace

std::string launches_text(const std::vector<std::uint32_t>& launches) {
  std::string text;
  for (std::size_t k = 0, end = 0; k < launches.size(); k = end) {
    for (end = k + 1; end < launches.size() && launches[end] == launches[end - 1] + 1;) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(launches[k]);
    if (end - k > 1) text += "-" + std::to_string(launches[end - 1]);
  }
  return text;
}

std::string sample_text(const sample_outcome& o) {
  const std::size_t all = o.list.launches.size(), some = o.drawn.size();
  std::string text = fmt::format("{}: {} launches in {} strata; {} of them are simulated ({})\n",
                                 printable(o.list.file), grouped(all), grouped(o.drawn.strata().size()), grouped(some),
                                 percent(static_cast<double>(some) / static_cast<double>(all)));
  if (o.list.has_times)
    text += fmt::format("by their durations: {:.1f} times less to simulate, expected error {} with {} confidence\n",
                        o.drawn.speedup(), percent(o.drawn.expected_error()), percent(o.wanted.confidence));
  if (!o.has_estimate) return text;
  const workload_estimate& e = o.estimate;
  text += fmt::format("estimate: {} cycles, {} more or less with {} confidence\n",
                      grouped(static_cast<std::uint64_t>(std::llround(e.whole.value))), percent(e.whole.error()),
                      percent(o.wanted.confidence));
  text += table_text(e.kernels, e.whole.value, "kernel") + table_text(e.layers, e.whole.value, "layer");
  return text;
}

json sample_json(const sample_outcome& o) {
  json j = {{"workload", o.list.file}, {"launches", o.list.launches.size()},
            {"error", o.wanted.error}, {"confidence", o.wanted.confidence},
            {"seed", o.seed},          {"simulated", o.drawn.size()}};
  if (o.list.has_times) {
    j["expected_error"] = o.drawn.expected_error();
    j["speedup"] = o.drawn.speedup();
  }
  j["strata"] = json::array();
  for (std::size_t k = 0; k < o.drawn.strata().size(); ++k) {
    const stratum& s = o.drawn.strata()[k];
    const std::vector<std::uint32_t> chosen = o.drawn.chosen(k);
    j["strata"].push_back({{"kernel", s.name},
                           {"launches", s.members.size()},
                           {"weight", static_cast<double>(s.members.size()) / static_cast<double>(chosen.size())},
                           {"simulated", chosen}});
    if (o.list.has_times) {
      j["strata"].back()["mean_time"] = s.mean;
      j["strata"].back()["deviation"] = s.deviation;
    }
  }
  if (!o.has_estimate) return j;
  j["estimate"] = interval(o.estimate.whole);
  j["kernels"] = table_json(o.estimate.kernels);
  if (!o.estimate.layers.empty()) j["layers"] = table_json(o.estimate.layers);
  return j;
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#include "testbench/sampling/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heddle/config/message.h"
#include "testbench/sampling/pka.h"
#include "testbench/sampling/sample_text.h"
#include "testbench/sampling/sieve.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr char stem[] = "STEM with ROOT", sieve[] = "Sieve", pka[] = "PKA";

void judge(method_result& r, const launch_list& list) {
  double sum = 0, simulated = 0;
  for (const weighted_launch& w : r.launches) {
    simulated += list.launches[w.launch].time;
    sum += w.weight * list.launches[w.launch].time;
  }
  const double whole = list.time();
  r.simulated = r.launches.size();
  r.speedup = whole / simulated;
  r.error = std::abs(sum / whole - 1);
}

method_result with_stem(const launch_list& list, const accuracy& wanted, std::uint64_t seed, std::size_t times) {
  const repetitions all = repeat(list, wanted, seed, times);
  method_result r;
  r.name = stem;
  r.simulated = all.simulated;
  r.speedup = all.speedup;
  r.error = all.mean_error;
  r.remark = fmt::format("mean of {} samples, {} of which within {}; {} at most", grouped(times), grouped(all.held),
                         percent(wanted.error), percent(all.largest_error));
  return r;
}

method_result with_sieve(const launch_list& list) {
  method_result r;
  r.name = sieve;
  if (list.counters.instructions.empty()) {
    r.missing = std::string("not estimated without ") + instruction_counters;
    return r;
  }
  r.launches = sieve_choice(list);
  r.remark = fmt::format("{} strata by kernel and instructions{}", grouped(r.launches.size()),
                         list.counters.block_threads.empty() ? "; no column of block sizes" : "");
  judge(r, list);
  return r;
}

method_result with_pka(const launch_list& list, std::uint64_t seed) {
  method_result r;
  r.name = pka;
  if (list.counters.names.empty()) {
    r.missing = "not estimated without counters";
    return r;
  }
  const pka_launches chosen = pka_choice(list, seed);
  r.launches = chosen.launches;
  r.remark = fmt::format("{} clusters by {} components of {} counters", r.launches.size(), chosen.components,
                         list.counters.names.size());
  judge(r, list);
  return r;
}

}  // namespace

std::vector<method_result> compare(const launch_list& list, const accuracy& wanted, std::uint64_t seed,
                                   std::size_t times) {
  return {with_stem(list, wanted, seed, times), with_sieve(list), with_pka(list, seed)};
}

std::string comparison_text(const launch_list& list, const std::vector<method_result>& methods) {
  std::string text = fmt::format("{}: {} launches, by three methods\n{:>9} {:>11} {:>8}  {}\n", printable(list.file),
                                 grouped(list.launches.size()), "simulated", "times less", "error", "method");
  for (const method_result& m : methods) {
    if (!m.missing.empty()) {
      text += fmt::format("{:>9} {:>11} {:>8}  {}: {}\n", "-", "-", "-", m.name, m.missing);
      continue;
    }
    text += fmt::format("{:>9} {:>11} {:>8}  {}: {}\n", grouped(m.simulated), fmt::format("{:.1f}", m.speedup),
                        percent(m.error), m.name, m.remark);
  }
  if (!list.counters.missing.empty()) text += "counters that were not given:\n";
  for (const std::string& name : list.counters.missing) text += "  " + name + "\n";
  return text;
}

json comparison_json(const launch_list& list, const std::vector<method_result>& methods) {
  json all = json::array();
  for (const method_result& m : methods) {
    json of = {{"method", m.name}};
    if (!m.missing.empty()) {
      of["why_not"] = m.missing;
    } else {
      of.update({{"simulated", m.simulated}, {"speedup", m.speedup}, {"error", m.error}});
      json launches = json::array();
      for (const weighted_launch& w : m.launches) launches.push_back({{"launch", w.launch}, {"weight", w.weight}});
      if (!launches.empty()) of["launches"] = std::move(launches);
    }
    if (m.name == pka) of["missing_counters"] = list.counters.missing;
    all.push_back(std::move(of));
  }
  return {{"workload", list.file}, {"launches", list.launches.size()}, {"methods", std::move(all)}};
}

}  // namespace heddle::testbench

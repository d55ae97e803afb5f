// SPDX-License-Identifier: MIT
#include "testbench/sampling/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heddle/config/message.h"
#include "heddle/hash/splitmix64.h"
#include "testbench/sampling/compare/pka.h"
#include "testbench/sampling/compare/sieve.h"
#include "testbench/sampling/compare/stem.h"
#include "testbench/sampling/strata/repetitions.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr char here[] = "heddle sample", stem[] = "STEM", sieve[] = "Sieve", pka[] = "PKA";

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

std::string remark_of(const repetitions& all, const accuracy& wanted) {
  return fmt::format("mean of {} samples, {} of which within {}; {} at most", grouped(all.all), grouped(all.held),
                     percent(wanted.error), percent(all.largest_error));
}

method_result of_repetitions(const char* name, const repetitions& all, const accuracy& wanted) {
  method_result r;
  r.name = name;
  r.simulated = all.simulated;
  r.speedup = all.speedup;
  r.error = all.mean_error;
  r.remark = remark_of(all, wanted);
  return r;
}

/// Samples by STEM's published rules.
repetitions repeat_stem(const launch_list& list, const accuracy& wanted, std::uint64_t seed, std::size_t times) {
  std::vector<stem_stratum> strata = stem_strata(list, wanted);
  splitmix64 random(seed);
  const double whole = list.time();
  double simulated = 0;
  repetitions r;
  r.all = times;
  for (const stem_stratum& s : strata) r.simulated += s.drawn;
  for (std::size_t k = 0; k < times; ++k) {
    double all = 0;
    for (stem_stratum& s : strata) {
      double sum = 0;
      for (std::size_t m = 0; m < s.drawn; ++m) {
        std::swap(s.members[m], s.members[m + random.below(s.members.size() - m)]);
        sum += list.launches[s.members[m]].time;
      }
      simulated += sum / static_cast<double>(times);
      all += sum / static_cast<double>(s.drawn) * static_cast<double>(s.members.size());
    }
    const double error = std::abs(all / whole - 1);
    r.held += error <= wanted.error;
    r.mean_error += error / static_cast<double>(times);
    r.largest_error = std::max(r.largest_error, error);
  }
  r.speedup = whole / simulated;
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
  return {of_repetitions(here, repeat(list, wanted, seed, times), wanted),
          of_repetitions(stem, repeat_stem(list, wanted, seed, times), wanted), with_sieve(list), with_pka(list, seed)};
}

std::string comparison_text(const launch_list& list, const std::vector<method_result>& methods) {
  std::string text = fmt::format("{}: {} launches, by four methods\n{:>9} {:>11} {:>8}  {}\n", printable(list.file),
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

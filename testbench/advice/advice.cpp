// SPDX-License-Identifier: MIT
#include "testbench/advice/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr double least_speedup = 1.03;

constexpr void (*rules[])(const time_model&, std::vector<advice>&) = {unused_vectors,
                                                                      narrow_elements,
                                                                      uncoalesced_accesses,
                                                                      bank_conflicts,
                                                                      constants_by_lane,
                                                                      local_memory,
                                                                      register_spills,
                                                                      divergence,
                                                                      double_precision,
                                                                      occupancy,
                                                                      partial_wave,
                                                                      imbalance_between_blocks,
                                                                      imbalance_within_blocks,
                                                                      serial_work,
                                                                      barriers,
                                                                      steps_in_shared_memory,
                                                                      atomics_by_address,
                                                                      prefetch_distance};

}  // namespace

std::string rounded(double value) { return fmt::format("{:.3g}", value); }

std::string failure_of(const json& kernel) {
  const auto failed = kernel.find("failed");
  return failed != kernel.end() && failed->is_string() ? failed->get<std::string>() : "";
}

std::vector<advice> advice_for(const json& kernel, const machine_parameters& machine) {
  if (!failure_of(kernel).empty()) return {};  // first it has to work
  if (number_at(kernel, {"cycles"}) == 0 || number_at(kernel, {"metrics", "inst_executed"}) == 0) return {};
  const time_model t(kernel, machine);
  std::vector<advice> all;
  for (const auto rule : rules) rule(t, all);
  all.erase(std::remove_if(all.begin(), all.end(), [](const advice& a) { return a.speedup < least_speedup; }),
            all.end());
  for (advice& a : all) {
    a.page = "docs/use/advice/" + a.rule + ".md";
    std::replace(a.page.begin(), a.page.end(), ' ', '_');
    a.remedy += " (" + a.page + ")";
  }
  std::stable_sort(all.begin(), all.end(), [](const advice& a, const advice& b) { return a.speedup > b.speedup; });
  return all;
}

std::string text_of(const advice& a) {
  return fmt::format("{}{}{}: {} (about {:.2f} times as fast)", a.place, a.place.empty() ? "" : ": ", a.rule, a.finding,
                     a.speedup);
}

}  // namespace heddle::testbench

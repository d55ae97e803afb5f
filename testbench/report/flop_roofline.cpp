// SPDX-License-Identifier: MIT
#include "testbench/report/flop_roofline.h"

#include <algorithm>
#include <utility>

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

struct ceiling_row {
  const char* name;
  const char* key;  // operands per cycle and sub-partition
  double flops;     // of one of them
};

constexpr ceiling_row tensor_rows[] = {{"tensor f16", "tensor.f16_fma_per_cycle", 2},
                                       {"tensor f16 to f32", "tensor.f16_f32_fma_per_cycle", 2},
                                       {"tensor bf16", "tensor.bf16_fma_per_cycle", 2},
                                       {"tensor tf32", "tensor.tf32_fma_per_cycle", 2},
                                       {"tensor f64", "tensor.f64_fma_per_cycle", 2},
                                       {"warpgroup f16", "tensor.warpgroup_f16_fma_per_cycle", 2},
                                       {"warpgroup tf32", "tensor.warpgroup_tf32_fma_per_cycle", 2},
                                       {"warpgroup fp8", "tensor.warpgroup_8bit_fma_per_cycle", 2}};

// Those of the chip's units, the highest first; those that are equal are one.
json ceilings(const machine_parameters& m) {
  const double parts = m.number("sm.sub_partitions") * m.number("gpu.sm_count");
  const double hertz = m.number("gpu.core_clock_mhz") * 1e6;
  std::vector<std::pair<std::string, double>> all;
  const auto add = [&](const char* name, double per_cycle) {
    if (per_cycle <= 0) return;
    for (auto& [known, peak] : all)
      if (peak == per_cycle * parts * hertz) {
        known += std::string(", ") + name;
        return;
      }
    all.emplace_back(name, per_cycle * parts * hertz);
  };
  const double shared_lanes = ratio(m.number("fp32.shared_lanes"), m.number("sm.sub_partitions"));
  add("fp32", 2 * (m.number("fp32.lanes") + shared_lanes));
  add("fp64", 2 * m.number("fp64.lanes"));
  add("half", 4 * m.number("half.lanes"));
  for (const ceiling_row& row : tensor_rows) add(row.name, row.flops * m.number(row.key));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  json out = json::array();
  for (const auto& [name, peak] : all) out.push_back({{"name", name}, {"peak", peak}});
  return out;
}

}  // namespace

json flop_roofline(const json& kernel, const machine_parameters& m) {
  double flops = 0;
  json work = json::array();
  for (const char* unit : {"fp32", "fp64", "half", "tensor"})
    if (const double n = number_at(kernel, {"flops", unit}); n > 0) {
      flops += n;
      work.push_back({{"name", unit}, {"flops", n}});
    }
  if (flops == 0 || number_at(kernel, {"cycles"}) == 0) return nullptr;
  const double hertz = m.number("gpu.core_clock_mhz") * 1e6;
  json levels = roofline(kernel, m)["levels"];
  const double pass_bytes = m.number("shared_memory.banks") * m.number("shared_memory.bank_bytes");
  const double passes = number_at(kernel, {"metrics", "shared_load_transactions"}) +
                        number_at(kernel, {"metrics", "shared_store_transactions"});
  if (passes > 0)
    levels.push_back({{"name", "shared"},
                      {"bytes", passes * pass_bytes},
                      {"peak", m.number("gpu.sm_count") * pass_bytes * hertz /
                                   std::max(1.0, m.number("shared_memory.pass_cycles"))}});
  for (json& level : levels) level["intensity"] = flops / level["bytes"].get<double>();
  return {{"rate", ratio(flops, number_at(kernel, {"cycles"})) * hertz},
          {"work", work},
          {"ceilings", ceilings(m)},
          {"levels", levels}};
}

}  // namespace heddle::testbench

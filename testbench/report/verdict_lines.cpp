// SPDX-License-Identifier: MIT
#include "testbench/report/verdict_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heddle/metrics/json.h"
#include "heddle/metrics/run_metrics.h"
#include "testbench/advice/advice.h"
#include "testbench/report/report_page.h"
#include "testbench/report/verdict.h"

namespace heddle::testbench {

verdict_lines verdict_of(const run_metrics& metrics) {
  if (metrics.kernels.empty()) return {};
  const auto longest = std::max_element(metrics.kernels.begin(), metrics.kernels.end(),
                                        [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
  // The rules read metrics files, so the run is converted to the JSON of one.
  run_metrics alone;
  alone.config = metrics.config;
  alone.kernels = {*longest};
  if (metrics.details != nullptr) metrics.details->fill(alone.kernels[0]);
  alone.kernels[0].energy.known = false;  // no rule reads energies
  const auto json = nlohmann::ordered_json::parse(valid_utf8(to_json(alone)));
  const machine_parameters machine(json["gpu"]["config"]);
  const verdict v = judge(json["kernels"][0], machine);
  verdict_lines lines;
  lines.bound = v.headline;
  if (metrics.kernels.size() > 1) {
    std::uint64_t all = 0;
    for (const kernel_metrics& k : metrics.kernels) all += k.cycles;
    lines.bound = fmt::format("{} (launch {}, {:.0f} % of all kernel cycles): {}", longest->name, longest->launch,
                              100 * ratio(static_cast<double>(longest->cycles), static_cast<double>(all)), v.headline);
  }
  if (!v.changes.empty())
    lines.advice = options_of(v.changes[0]) + " instead of " + value_text(v.changes[0].from) + ": " + v.changes[0].why;
  const std::vector<advice> of_kernel = advice_for(json["kernels"][0], machine);
  if (!of_kernel.empty()) lines.kernel = text_of(of_kernel[0]) + "; " + of_kernel[0].remedy;
  return lines;
}

}  // namespace heddle::testbench

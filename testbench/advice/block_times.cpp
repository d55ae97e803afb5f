// SPDX-License-Identifier: MIT
#include "testbench/advice/block_times.h"

#include <algorithm>
#include <cmath>

namespace heddle::testbench {

using json = nlohmann::ordered_json;

block_times::block_times(const time_model& t)
    : kernel(number_at(t.kernel, {"cycles"})),
      waves(number_at(t.kernel, {"waves"})),
      whole_waves(std::max(1.0, std::ceil(waves))) {
  const json over_time = t.kernel.value("occupancy_over_time", json::object());
  const double step = number_at(over_time, {"step_cycles"});
  const json sms = over_time.value("active_sms", json::array()),
             filled = over_time.value("achieved_occupancy", json::array());
  double most = 0, most_sms = 0, sm_cycles = 0;
  const auto warps = [&](std::size_t k) { return sms[k].get<double>() * filled[k].get<double>(); };
  const std::size_t steps = std::min(sms.size(), filled.size());
  for (std::size_t k = 0; k < steps; ++k) {
    most = std::max(most, warps(k));
    most_sms = std::max(most_sms, sms[k].get<double>());
    sm_cycles += sms[k].get<double>() * step;
  }
  for (std::size_t k = 0; k < steps && warps(k) < 0.9 * most; ++k) start += step;
  const double active = number_at(t.kernel, {"warp_cycles", "active"});
  const double gone =
      number_at(t.kernel, {"lost_occupancy", "imbalance_within_blocks"}) * sm_cycles * t.machine.number("sm.max_warps");
  block = ratio(active + gone, number_at(t.kernel, {"warps"}));
  ended = ratio(gone, active + gone);
  sm = ratio(sm_cycles, most_sms);
  late = number_at(t.kernel, {"longest_even_sm_cycles"});
  for (const wait_share& w : waits(t.kernel))
    if (is_queue(w.name)) queues += w.share;
}

double block_times::even() const { return std::min(kernel, whole_waves * block + start); }

double block_times::partial() const {
  const double full = std::floor(waves), part = waves - full, shorter = 1 - queues * (1 - part);
  return std::max(0.0, ratio(block * waves, full + part * shorter) * (shorter - part));
}

double block_times::even_sms(double blocks, double sms) const {
  const double each = ratio(blocks, sms);
  return std::min(kernel, std::max(late, sm * std::max(1.0, ratio(std::ceil(each), each))) + start);
}

}  // namespace heddle::testbench

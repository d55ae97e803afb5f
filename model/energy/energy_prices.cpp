// SPDX-License-Identifier: MIT
#include "heddle/energy/energy_prices.h"

#include <algorithm>
#include <initializer_list>

namespace heddle {

namespace {

bool has_points(const energy_parameters& e) { return e.voltage_curve == choice::voltage_curve::points; }

// Of the two points around the clock, or the last two.
double between_points(const energy_parameters& e, double clock_mhz) {
  const std::vector<unsigned>&clocks = e.voltage_clocks_mhz, &millivolts = e.voltage_points_mv;
  if (clock_mhz <= clocks.front()) return millivolts.front() / 1000.0;
  std::size_t next = 1;
  while (next + 1 < clocks.size() && clock_mhz > clocks[next]) ++next;
  const double share = (clock_mhz - clocks[next - 1]) / (clocks[next] - clocks[next - 1]);
  return (millivolts[next - 1] + share * (millivolts[next] - millivolts[next - 1])) / 1000.0;
}

}  // namespace

double core_volts(const gpu_config& config) { return core_volts(config, config.gpu.core_clock_mhz); }

double core_volts(const gpu_config& config, double clock_mhz) {
  const energy_parameters& e = config.energy;
  if (e.volts > 0) return e.volts;
  if (has_points(e)) return between_points(e, clock_mhz);
  const double ghz = (clock_mhz - e.reference_clock_mhz) / 1000;
  return std::max(std::min(e.least_volts, e.reference_volts), e.reference_volts + ghz * e.volts_per_ghz);
}

double reference_volts(const energy_parameters& e) {
  return has_points(e) ? between_points(e, e.reference_clock_mhz) : e.reference_volts;
}

double static_ratio(const gpu_config& config, double clock_mhz) {
  const energy_parameters& e = config.energy;
  const double volts = core_volts(config, clock_mhz) / reference_volts(e);
  return e.leakage_share * volts + (1 - e.leakage_share) * (clock_mhz / e.reference_clock_mhz) * volts * volts;
}

namespace {

// Energies with the least and the most active operands have a straight line between them.
void apply_activity(energy_parameters& p) {
  const auto scale = [&p](double still_share, std::initializer_list<double*> energies) {
    for (double* pj : energies) *pj *= still_share + p.operand_activity * (1 - still_share);
  };
  scale(p.still_lane_share, {&p.fp32_pj, &p.int_pj, &p.int_multiply_pj, &p.fp64_pj, &p.half_pj, &p.sfu_pj, &p.ldst_pj,
                             &p.texture_pj, &p.register_read_pj, &p.register_write_pj});
  scale(p.still_tensor_share, {&p.tensor_f16_pj, &p.tensor_tf32_pj, &p.tensor_int8_pj, &p.tensor_f64_pj});
  scale(p.still_data_share, {&p.shared_pj, &p.l1_read_hit_pj, &p.l1_read_miss_pj, &p.l1_write_hit_pj,
                             &p.l1_write_miss_pj, &p.flit_pj, &p.cluster_flit_pj, &p.l2_read_hit_pj, &p.l2_read_miss_pj,
                             &p.l2_write_hit_pj, &p.l2_write_miss_pj, &p.context_line_pj});
  scale(p.still_dram_share, {&p.dram_read_pj, &p.dram_write_pj});
}

}  // namespace

energy_parameters prices_of(const gpu_config& config) {
  energy_parameters p = config.energy;
  apply_activity(p);
  const double ratio = core_volts(config) / reference_volts(p);
  for (double* pj :
       {&p.instruction_pj,    &p.fp32_pj,          &p.int_pj,           &p.int_multiply_pj, &p.fp64_pj,
        &p.half_pj,           &p.sfu_pj,           &p.ldst_pj,          &p.branch_pj,       &p.texture_pj,
        &p.tensor_f16_pj,     &p.tensor_tf32_pj,   &p.tensor_int8_pj,   &p.tensor_f64_pj,   &p.register_read_pj,
        &p.register_write_pj, &p.shared_pj,        &p.constant_pj,      &p.l1_read_hit_pj,  &p.l1_read_miss_pj,
        &p.l1_write_hit_pj,   &p.l1_write_miss_pj, &p.tlb_pj,           &p.flit_pj,         &p.l2_read_hit_pj,
        &p.l2_read_miss_pj,   &p.l2_write_hit_pj,  &p.l2_write_miss_pj, &p.context_line_pj, &p.cluster_flit_pj})
    *pj *= ratio * ratio;
  const double watts_ratio = static_ratio(config, config.gpu.core_clock_mhz);
  p.active_sm_watts *= watts_ratio;
  p.idle_sm_watts *= watts_ratio;
  return p;
}

}  // namespace heddle

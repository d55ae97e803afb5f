// SPDX-License-Identifier: MIT
#include "heddle/gpu/path_latency.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "heddle/config/error.h"
#include "heddle/config/sm_places.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

namespace {

constexpr double most_cycles = 1e6;  // of a path: an L2 slice has room for what arrives within its latency

/// Cycles of the L2's clock, at least 1. Throws input_error for a latency that no chip has, as the quotient of two
/// clocks may make it.
unsigned cycles_of_path(double cycles, const char* key) {
  if (cycles > most_cycles)
    throw input_error(std::string(key) + " is " + std::to_string(std::llround(cycles)) +
                      " cycles of interconnect.clock_mhz, expected at most " +
                      std::to_string(std::lround(most_cycles)));
  return narrow<unsigned>(std::max(1l, std::lround(cycles)));
}

unsigned whole_cycles(unsigned bytes, unsigned bytes_per_cycle) {
  return (bytes + bytes_per_cycle - 1) / bytes_per_cycle;
}

// Cycles of the interconnect that a response takes at the slower of the two ports.
unsigned response_cycles(const gpu_config& config, unsigned bytes) {
  const interconnect_parameters& p = config.interconnect;
  const unsigned slice = whole_cycles(bytes, p.response_bytes_per_cycle);
  if (p.sm_response_bytes_per_cycle == 0) return slice;
  const double sm = whole_cycles(bytes, p.sm_response_bytes_per_cycle) * p.clock_mhz / config.gpu.core_clock_mhz;
  return std::max(slice, narrow<unsigned>(std::ceil(sm)));
}

}  // namespace

unsigned l2_hit_cycles(const gpu_config& config) {
  // Core cycles of issue, address stage and L1 port; the response passes the load/store unit in its arrival cycle.
  const double sm_cycles = config.ldst.address_latency_cycles;
  const double ratio = config.interconnect.clock_mhz / config.gpu.core_clock_mhz;
  // A request is a header, a response a header and one sector.
  const unsigned up = 1, down = response_cycles(config, config.interconnect.header_bytes + config.l2.sector_bytes);
  const double path = 2.0 * config.interconnect.latency_cycles + (up - 1) + (down - 1) + 1;
  const double left = (config.l2.latency_cycles - sm_cycles) * ratio - path;
  if (left < 1)
    throw input_error("l2.latency_cycles = " + std::to_string(config.l2.latency_cycles) +
                      " is shorter than the round trip to the L2 (interconnect.latency_cycles = " +
                      std::to_string(config.interconnect.latency_cycles) + " each way)");
  return cycles_of_path(left, "l2.latency_cycles");
}

unsigned l2_code_hit_cycles(const gpu_config& config) {
  const double ratio = config.interconnect.clock_mhz / config.gpu.core_clock_mhz;
  const unsigned line = config.instruction_cache.second_level_line_bytes;
  const unsigned reads = std::max(1u, line / line_bytes);
  // One request a read; the responses follow each other, because a slice has the whole line.
  const unsigned down = response_cycles(config, config.interconnect.header_bytes + std::min(line, line_bytes));
  const double path = 2.0 * config.interconnect.latency_cycles + (reads * down - 1) + 1;
  const double left = config.instruction_cache.second_level_miss_latency_cycles * ratio - path;
  return cycles_of_path(left, "instruction_cache.second_level_miss_latency_cycles");
}

unsigned l2_far_cycles(const gpu_config& config) {
  if (config.l2.far_latency_cycles == 0) return 0;
  const double ratio = config.interconnect.clock_mhz / config.gpu.core_clock_mhz;
  return cycles_of_path(config.l2.far_latency_cycles * ratio, "l2.far_latency_cycles");
}

std::vector<bool> sms_of_other_partition(const gpu_config& config, unsigned slice) {
  const bool second = slice >= slices_of(config) / 2;
  std::vector<bool> other;
  for (const sm_place& at : places_of_sms(config)) other.push_back((at.gpc >= config.gpu.gpc_count / 2) != second);
  return other;
}

}  // namespace heddle

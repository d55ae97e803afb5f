// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/fixed_memory.h"

#include <algorithm>
#include <cmath>

#include "heddle/config/error.h"

namespace heddle {

namespace {

constexpr double fraction = 65536;

// The queue must hold all requests in flight at full bandwidth (of 32 bytes each), else it would limit bandwidth.
unsigned entries_of(const gpu_config& c) {
  const double bytes = c.memory.bytes_per_cycle * c.memory.latency_cycles;
  return c.dram.queue_entries + static_cast<unsigned>(std::min(bytes / 32, 1e6));
}

}  // namespace

fixed_memory::fixed_memory(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config, unsigned index)
    : memory_model(name, clock, config, index, entries_of(config)) {
  if (!(config.memory.bytes_per_cycle > 0)) throw input_error("memory.bytes_per_cycle must be above zero");
  const double ratio = clock.frequency_mhz() / config.gpu.core_clock_mhz;
  latency_ = std::max<cycle_t>(2, static_cast<cycle_t>(std::ceil(config.memory.latency_cycles * ratio - 1e-9)));
  byte_cost_ = static_cast<std::uint64_t>(std::llround(fraction * ratio / config.memory.bytes_per_cycle));
}

void fixed_memory::enter(tlm::tlm_generic_payload& p, cycle_t arrival) {
  const std::uint64_t start = std::max<std::uint64_t>(bus_free_, (arrival - 1) << 16);
  bus_free_ = start + byte_cost_ * p.get_data_length();
  queue_.push({&p, (start >> 16) + latency_});
  counters_of(launch_of(p)).busy_cycles += (bus_free_ >> 16) - (start >> 16);
}

void fixed_memory::exchange(state_image& image) {
  exchange_common(image);
  image(bus_free_, queue_);
}

cycle_t fixed_memory::work(cycle_t now) {
  while (!queue_.empty() && queue_.front().due <= now) {
    answer(*queue_.front().payload, now);
    leave(now);
    queue_.pop();
  }
  return queue_.empty() ? never : queue_.front().due;
}

}  // namespace heddle

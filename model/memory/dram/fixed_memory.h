// SPDX-License-Identifier: MIT
// Models: a memory channel of constant latency and limited bandwidth, for studies that leave DRAM out.
// Sockets: request_sockets (targets).
// One cycle: requests whose bytes have been transferred are answered.
// Parameters: memory.latency_cycles, memory.bytes_per_cycle (both of the core clock), dram.queue_entries.
// Source: none; the simplest memory.
#pragma once

#include "heddle/memory/dram/memory_model.h"

namespace heddle {

/// Without load, a request whose BEGIN_REQ comes in cycle t is answered in cycle t + latency. Under load a channel
/// transfers at most bytes_per_cycle bytes per core cycle. Parameters are converted to the channel's clock.
class fixed_memory : public memory_model {
 public:
  fixed_memory(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config, unsigned index);

  void exchange(state_image& image) override;

 private:
  struct entry {
    tlm::tlm_generic_payload* payload = nullptr;
    cycle_t due = 0;
    void exchange(state_image& image) { image(payload, due); }
  };
  void enter(tlm::tlm_generic_payload& p, cycle_t arrival) override;
  cycle_t work(cycle_t now) override;
  [[nodiscard]] cycle_t unloaded_cycles(const tlm::tlm_generic_payload&) const override { return latency_; }

  cycle_t latency_;
  std::uint64_t byte_cost_;     // cycles per byte, in 1/65536
  std::uint64_t bus_free_ = 0;  // earliest time at which the data bus is free, in 1/65536 cycles
  ring<entry> queue_;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
// Models: a custom memory channel for the inside of a GPU: all reads have one latency, all writes another, with one
// response a cycle. Sockets: request_sockets (targets), as memory_model has. One cycle: responds to one request whose
// latency has elapsed. Parameters: the two latencies.
#pragma once

#include <heddle/memory/dram/memory_model.h>

#include <algorithm>
#include <deque>

namespace cosim {

class even_memory : public heddle::memory_model {
 public:
  even_memory(const char* name, heddle::clock_domain& clock, const heddle::gpu_config& config, unsigned index,
              unsigned read_cycles, unsigned write_cycles)
      : memory_model(name, clock, config, index, 64), read_cycles_(read_cycles), write_cycles_(write_cycles) {}

 private:
  struct request {
    tlm::tlm_generic_payload* payload;
    heddle::cycle_t due;
  };

  void enter(tlm::tlm_generic_payload& p, heddle::cycle_t arrival) override {
    queue_.push_back({&p, std::max(arrival + unloaded_cycles(p), queue_.empty() ? 0 : queue_.back().due + 1)});
  }
  heddle::cycle_t work(heddle::cycle_t now) override {
    if (!queue_.empty() && queue_.front().due <= now) {
      answer(*queue_.front().payload, now);
      leave(now);
      queue_.pop_front();
    }
    return queue_.empty() ? heddle::never : std::max(queue_.front().due, now + 1);
  }
  [[nodiscard]] heddle::cycle_t unloaded_cycles(const tlm::tlm_generic_payload& p) const override {
    return p.is_read() ? read_cycles_ : write_cycles_;
  }

  unsigned read_cycles_;
  unsigned write_cycles_;
  std::deque<request> queue_;
};

}  // namespace cosim

// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/dram_scheduler.h"

namespace heddle {

/// First come, first served: the oldest request's commands issue, and no other's.
class first_come : public dram_scheduler {
 public:
  dram_choice select(const dram_queue& queue, cycle_t now) override {
    if (queue.ready() == 0) return {};
    const dram_request& oldest = queue[0];
    const cycle_t earliest = queue.earliest(queue.next(oldest), oldest.bank);
    if (earliest > now) return {dram_choice::none, earliest};
    return {0, never};
  }
};

template <>
std::unique_ptr<dram_scheduler> create_dram_scheduler<choice::dram_scheduler::fcfs>(const dram_parameters&) {
  return std::make_unique<first_come>();
}

}  // namespace heddle

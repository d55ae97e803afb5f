// SPDX-License-Identifier: MIT
#pragma once

#include <heddle/memory/dram/policies/dram_scheduler.h>

namespace cosim {

/// A scheduler of a DRAM channel from outside the library: the oldest request of the bank that was served last, as long
/// as there is one, then the oldest of all.
class bank_after_bank : public heddle::dram_scheduler {
 public:
  heddle::dram_choice select(const heddle::dram_queue& queue, heddle::cycle_t now) override {
    if (queue.ready() == 0) return {};
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < queue.ready(); ++i)
      if (queue[i].bank == bank_) {
        chosen = i;
        break;
      }
    bank_ = queue[chosen].bank;
    const heddle::cycle_t earliest = queue.earliest(queue.next(queue[chosen]), bank_);
    if (earliest > now) return {heddle::dram_choice::none, earliest};
    return {chosen, heddle::never};
  }

 private:
  unsigned bank_ = 0;
};

}  // namespace cosim

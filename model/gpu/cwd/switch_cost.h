// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/gpu/cwd/sm_account.h"

namespace heddle {

/// Chooses how each block leaves an SM (switch_cost.cpp).
class switch_cost {
 public:
  struct block_choice {
    block_in_flight* block;
    preemption_mode mode;
    double cycles;  // estimated for drain or flush, whichever is less
    double bytes;   // of its context
  };
  /// All outlive it.
  switch_cost(const gpu_config& config, const cwd_records& records, grid_observer& observer)
      : config_(config), accounts_(records.sms), blocks_(records.blocks), grids_(records.grids), observer_(observer) {}

  /// The blocks of the SM with the modes that cost least.
  [[nodiscard]] std::vector<block_choice> cheapest(unsigned sm, cycle_t now) const;
  /// All blocks of the SM may be dropped and run anew.
  [[nodiscard]] bool can_flush(unsigned sm) const;

 private:
  [[nodiscard]] double cycles_left(const block_in_flight& b, double age) const;
  [[nodiscard]] bool can_flush(const block_in_flight& b) const;
  [[nodiscard]] double context_bytes_per_cycle(unsigned sm) const;

  const gpu_config& config_;
  const std::vector<sm_account>& accounts_;
  const block_pool& blocks_;
  const std::deque<grid_record>& grids_;
  grid_observer& observer_;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/memory/dram/policies/refresh_policy.h"

namespace heddle {

/// All banks at once, each dram.t_refi_cycles (REFab).
class all_bank_refresh : public refresh_policy {
 public:
  explicit all_bank_refresh(const dram_parameters& parameters) : interval_(parameters.t_refi_cycles) {}
  cycle_t interval() const override { return interval_; }
  unsigned bank(std::uint64_t) const override { return all_banks; }

 private:
  cycle_t interval_;
};

}  // namespace heddle

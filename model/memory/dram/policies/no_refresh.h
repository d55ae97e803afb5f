// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/memory/dram/policies/refresh_policy.h"

namespace heddle {

/// No refresh.
class no_refresh : public refresh_policy {
 public:
  cycle_t interval() const override { return 0; }
  unsigned bank(std::uint64_t) const override { return all_banks; }
};

}  // namespace heddle

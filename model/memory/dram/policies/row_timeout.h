// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/memory/dram/policies/row_policy.h"

namespace heddle {

/// A row is closed some cycles after its last column command.
class row_timeout : public row_policy {
 public:
  explicit row_timeout(cycle_t cycles) : cycles_(cycles) {}
  cycle_t close_at(unsigned, cycle_t now) override { return now + cycles_; }

 private:
  cycle_t cycles_;
};

}  // namespace heddle

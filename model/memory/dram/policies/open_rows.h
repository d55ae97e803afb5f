// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/memory/dram/policies/row_policy.h"

namespace heddle {

/// Rows stay open until another row of the bank is needed.
class open_rows : public row_policy {
 public:
  cycle_t close_at(unsigned, cycle_t) override { return never; }
};

}  // namespace heddle

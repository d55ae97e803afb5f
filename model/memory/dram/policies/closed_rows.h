// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/memory/dram/policies/row_policy.h"

namespace heddle {

/// The last column command that ready requests have for a row closes it.
class closed_rows : public row_policy {
 public:
  cycle_t close_at(unsigned, cycle_t now) override { return now; }
};

}  // namespace heddle

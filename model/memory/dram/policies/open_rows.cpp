// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/row_policy.h"

namespace heddle {

/// Rows stay open until another row of the bank is needed.
class open_rows : public row_policy {
 public:
  cycle_t close_at(unsigned, cycle_t) override { return never; }
};

template <>
std::unique_ptr<row_policy> create_row_policy<choice::row_policy::open>(const dram_parameters&) {
  return std::make_unique<open_rows>();
}

}  // namespace heddle

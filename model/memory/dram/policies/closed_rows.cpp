// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/row_policy.h"

namespace heddle {

/// The last column command that ready requests have for a row closes it.
class closed_rows : public row_policy {
 public:
  cycle_t close_at(unsigned, cycle_t now) override { return now; }
};

template <>
std::unique_ptr<row_policy> create_row_policy<choice::row_policy::closed>(const dram_parameters&) {
  return std::make_unique<closed_rows>();
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
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

template <>
std::unique_ptr<row_policy> create_row_policy<choice::row_policy::timeout>(const dram_parameters& parameters) {
  return std::make_unique<row_timeout>(parameters.row_timeout_cycles);
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/refresh_policy.h"

namespace heddle {

/// No refresh.
class no_refresh : public refresh_policy {
 public:
  [[nodiscard]] cycle_t interval() const override { return 0; }
  [[nodiscard]] unsigned bank(std::uint64_t) const override { return all_banks; }
};

template <>
std::unique_ptr<refresh_policy> create_refresh_policy<choice::refresh::none>(const dram_parameters&) {
  return std::make_unique<no_refresh>();
}

}  // namespace heddle

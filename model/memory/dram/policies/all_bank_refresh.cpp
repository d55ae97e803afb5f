// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/refresh_policy.h"

namespace heddle {

/// All banks at once, each dram.t_refi_cycles (REFab).
class all_bank_refresh : public refresh_policy {
 public:
  explicit all_bank_refresh(const dram_parameters& parameters) : interval_(parameters.t_refi_cycles) {}
  [[nodiscard]] cycle_t interval() const override { return interval_; }
  [[nodiscard]] unsigned bank(std::uint64_t) const override { return all_banks; }

 private:
  cycle_t interval_;
};

template <>
std::unique_ptr<refresh_policy> create_refresh_policy<choice::refresh::all_bank>(const dram_parameters& parameters) {
  return std::make_unique<all_bank_refresh>(parameters);
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/policies/refresh_policy.h"

namespace heddle {

/// One bank after the other, each of them once in dram.t_refi_cycles (REFpb). The other banks go on working.
class per_bank_refresh : public refresh_policy {
 public:
  explicit per_bank_refresh(const dram_parameters& parameters)
      : interval_(parameters.t_refi_cycles / parameters.banks), banks_(parameters.banks) {}
  [[nodiscard]] cycle_t interval() const override { return interval_; }
  [[nodiscard]] unsigned bank(std::uint64_t count) const override { return static_cast<unsigned>(count % banks_); }

 private:
  cycle_t interval_;
  unsigned banks_;
};

template <>
std::unique_ptr<refresh_policy> create_refresh_policy<choice::refresh::per_bank>(const dram_parameters& parameters) {
  return std::make_unique<per_bank_refresh>(parameters);
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// Says what is refreshed when: refreshes come at a fixed interval, each of all banks or of one. One object per
/// channel.
class refresh_policy {
 public:
  static constexpr unsigned all_banks = ~0u;

  virtual ~refresh_policy() = default;
  /// Cycles between two refreshes; 0: there are none.
  [[nodiscard]] virtual cycle_t interval() const = 0;
  /// What refresh `count`, from 0 on, refreshes: a bank, or all_banks. A channel without requests may skip refreshes of
  /// the past that leave no trace.
  [[nodiscard]] virtual unsigned bank(std::uint64_t count) const = 0;
  /// A policy with state describes it here.
  virtual void exchange(state_image& image) { static_cast<void>(image); }
};

/// Creates the policy of a name. Each policy's source file specialises it; the names are in parameter_list.h.
template <choice::refresh name>
[[nodiscard]] std::unique_ptr<refresh_policy> create_refresh_policy(const dram_parameters& parameters);
#define HEDDLE_X(name) \
  template <>          \
  std::unique_ptr<refresh_policy> create_refresh_policy<choice::refresh::name>(const dram_parameters&);
HEDDLE_REFRESH_POLICIES(HEDDLE_X)
#undef HEDDLE_X

/// Creates the policy that `dram.refresh` selects.
[[nodiscard]] std::unique_ptr<refresh_policy> make_refresh_policy(const dram_parameters& parameters);

}  // namespace heddle

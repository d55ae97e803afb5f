// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// Says when a row is closed that no ready request needs. A request for another row of the bank closes it in any case.
/// One object per channel.
class row_policy {
 public:
  virtual ~row_policy() = default;
  /// A column command of the bank issues in cycle `now`, and no further ready request needs the row. Returns the cycle
  /// from which on the row is to be closed if none comes: `now` to close it with this command (RDA, WRA), `never` to
  /// leave it open.
  virtual cycle_t close_at(unsigned bank, cycle_t now) = 0;
  /// A policy with state describes it here.
  virtual void exchange(state_image& image) { static_cast<void>(image); }
};

/// Creates the policy of a name. Each policy's source file specialises it; the names are in parameter_list.h.
template <choice::row_policy name>
[[nodiscard]] std::unique_ptr<row_policy> create_row_policy(const dram_parameters& parameters);
#define HEDDLE_X(name) \
  template <>          \
  std::unique_ptr<row_policy> create_row_policy<choice::row_policy::name>(const dram_parameters&);
HEDDLE_ROW_POLICIES(HEDDLE_X)
#undef HEDDLE_X

/// Creates the policy that `dram.row_policy` selects.
[[nodiscard]] std::unique_ptr<row_policy> make_row_policy(const dram_parameters& parameters);

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "heddle/config/choices.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// Chooses the SM that gets the next block.
class placement_policy {
 public:
  virtual ~placement_policy() = default;
  /// `resident[i]`: number of blocks on SM i; `fits(i)`: the block fits on SM i. Returns the SM, or -1 if the block
  /// fits nowhere.
  virtual int choose(const std::vector<std::uint64_t>& resident, const std::function<bool(unsigned)>& fits) = 0;
  /// How many of `sms` SMs certainly get a block before `sm`, counted up to `most`; `fits(i)`: any next block fits on
  /// SM i until SM i has got one.
  virtual unsigned served_before(unsigned sm, unsigned sms, unsigned most,
                                 const std::function<bool(unsigned)>& fits) const {
    (void)sm, (void)sms, (void)most, (void)fits;
    return 0;
  }
  /// A policy with state describes it here.
  virtual void exchange(state_image& image) { static_cast<void>(image); }
};

/// Creates the policy of a name. Each policy's source file specialises it; the names are in parameter_list.h.
template <choice::placement name>
[[nodiscard]] std::unique_ptr<placement_policy> create_placement_policy();
#define HEDDLE_X(name) \
  template <>          \
  std::unique_ptr<placement_policy> create_placement_policy<choice::placement::name>();
HEDDLE_PLACEMENTS(HEDDLE_X)
#undef HEDDLE_X

/// Creates the policy of `cwd.placement`.
[[nodiscard]] std::unique_ptr<placement_policy> make_placement_policy(choice::placement which);

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "heddle/config/parameters.h"
#include "heddle/memory/dram/timing/dram_queue.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// A scheduler's decision.
struct dram_choice {
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t request = none;  // ready request whose next command (dram_queue::next) issues now
  cycle_t next = never;        // with none: no earlier cycle will differ, unless another request becomes ready
};

/// Selects, each cycle, the request of a DRAM channel whose next command issues. One object per channel.
class dram_scheduler {
 public:
  virtual ~dram_scheduler() = default;
  /// At least one request is in the queue; it may not be ready yet. A chosen command must be possible in cycle `now`
  /// (dram_queue::earliest).
  virtual dram_choice select(const dram_queue& queue, cycle_t now) = 0;
  /// A policy with state describes it here.
  virtual void exchange(state_image& image) { static_cast<void>(image); }
};

/// Creates the scheduler of a name. Each scheduler's source file specialises it; the names are in parameter_list.h.
template <choice::dram_scheduler name>
[[nodiscard]] std::unique_ptr<dram_scheduler> create_dram_scheduler(const dram_parameters& parameters);
#define HEDDLE_X(name) \
  template <>          \
  std::unique_ptr<dram_scheduler> create_dram_scheduler<choice::dram_scheduler::name>(const dram_parameters&);
HEDDLE_DRAM_SCHEDULERS(HEDDLE_X)
#undef HEDDLE_X

/// Creates the scheduler that `dram.scheduler` selects.
[[nodiscard]] std::unique_ptr<dram_scheduler> make_dram_scheduler(const dram_parameters& parameters);

}  // namespace heddle

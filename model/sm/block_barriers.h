// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/context_image.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// How a chip's barriers count arrivals.
struct barrier_rules {
  explicit barrier_rules(const gpu_config& config);
  unsigned barriers;  // per block
  bool per_thread;    // lanes are independent: threads are counted, not warps
};

/// The effect of an arrival or of an exit.
struct barrier_outcome {
  std::uint64_t release = 0;  // warps of the block that are released, bit per warp
  unsigned barrier = 0;       // the barrier that completed or that the warp arrived at
  bool completed = false;
  bool waits = false;         // the arriving warp waits, or was among those released
  bool deadlock = false;      // all live warps (or threads) of the block wait and no barrier can complete
  std::uint32_t count = 0;    // reduction: threads whose predicate held
  std::uint32_t threads = 0;  // reduction: threads that took part
};

/// The named barriers of one block: which warps have arrived at each, and which may continue.
class block_barriers {
 public:
  /// A block of `warps` warps with `threads` threads.
  void open(unsigned warps, unsigned threads);
  /// Saves the state to a context, or restores it.
  void exchange(simt::context_image& image);
  void exchange(state_image& image) {
    image(live_, waiting_, live_threads_, waiters_, waits_at_);
    if (live_ != 0) image(barriers_);
    else if (image.reading()) barriers_.clear();
  }

  /// Warp `warp` of the block executed `bar` with the lanes of `mask`. `error` is set if the barrier's number or its
  /// thread count is not allowed.
  barrier_outcome arrive(const barrier_rules& rules, unsigned warp, const isa::instruction& bar,
                         const simt::warp_state& state, simt::lane_mask mask, std::string& error);
  /// `lanes` of the warp have exited; `last`: no lane of the warp is left. Then call after_exit until it releases no
  /// warp.
  void exited(unsigned warp, simt::lane_mask lanes, bool last);
  barrier_outcome after_exit(const barrier_rules& rules);

  /// Warps that wait at a barrier.
  [[nodiscard]] const std::uint64_t& waiting() const { return waiting_; }  // a reference, for tracing
  [[nodiscard]] std::uint64_t live() const { return live_; }
  [[nodiscard]] unsigned waits_at(unsigned warp) const { return waits_at_[warp]; }
  /// True if all live warps (or threads) of the block wait and no barrier can complete.
  [[nodiscard]] bool stuck(const barrier_rules& rules) const;

 private:
  struct barrier {
    std::uint64_t arrived = 0;   // warps that have arrived (waiting or not)
    std::uint64_t waiting = 0;   // warps that wait
    std::uint32_t expected = 0;  // threads, in whole warps; 0: all live threads
    std::uint32_t arrivals = 0;  // threads that have arrived; the missing lanes of an arrived warp count as well
    std::uint32_t waiters = 0;   // threads that have arrived and wait
    std::uint32_t count = 0;
    std::uint32_t threads = 0;

    void exchange(state_image& image) { image(arrived, waiting, expected, arrivals, waiters, count, threads); }
  };
  bool try_complete(const barrier_rules& rules, unsigned number, barrier_outcome& o);

  std::uint64_t live_ = 0;
  std::uint64_t waiting_ = 0;
  std::uint32_t live_threads_ = 0;
  std::uint32_t waiters_ = 0;  // threads
  std::array<std::uint8_t, 64> waits_at_{};
  static constexpr std::size_t most_barriers = 16;
  std::vector<barrier> barriers_;  // empty before the first block: most slots of an SM never have one
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "heddle/config/parameters.h"
#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/context_image.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle {

/// How a chip's barriers count.
struct barrier_rules {
  explicit barrier_rules(const gpu_config& config);
  unsigned barriers;  // that a block has
  bool per_thread;    // lanes are independent: threads are counted, not warps
};

/// What an arrival, or an exit, brought about.
struct barrier_outcome {
  std::uint64_t release = 0;  // warps of the block that go on, bit per warp
  unsigned barrier = 0;       // the one that it is about
  bool completed = false;
  bool waits = false;         // the arriving warp is among those that wait, or that are released
  bool deadlock = false;      // all that live in the block wait and no barrier can complete
  std::uint32_t count = 0;    // reduction: threads whose predicate held
  std::uint32_t threads = 0;  // reduction: threads that took part
};

/// The named barriers of one block: who has come to each. Whoever executes the block asks here who may go on.
class block_barriers {
 public:
  /// A block of `warps` warps with `threads` threads.
  void open(unsigned warps, unsigned threads);
  /// Writes the state to a context, or takes it from there.
  void exchange(simt::context_image& image);

  /// Warp `warp` of the block executed `bar` with the lanes of `mask`. `error` says when the barrier's number or its
  /// count of threads is not allowed.
  barrier_outcome arrive(const barrier_rules& rules, unsigned warp, const isa::instruction& bar,
                         const simt::warp_state& state, simt::lane_mask mask, std::string& error);
  /// `lanes` of the warp have exited, its `last` ones perhaps. Ask after_exit what that brought about, until nothing.
  void exited(unsigned warp, simt::lane_mask lanes, bool last);
  barrier_outcome after_exit(const barrier_rules& rules);

  /// Warps that wait at a barrier.
  const std::uint64_t& waiting() const { return waiting_; }  // where a waveform can follow it
  std::uint64_t live() const { return live_; }
  unsigned waits_at(unsigned warp) const { return waits_at_[warp]; }
  /// All that live in the block wait and no barrier can complete.
  bool stuck(const barrier_rules& rules) const;

 private:
  struct barrier {
    std::uint64_t arrived = 0;   // warps that came (waiting or not)
    std::uint64_t waiting = 0;   // those that wait
    std::uint32_t expected = 0;  // threads, in whole warps; 0: all that live
    std::uint32_t arrivals = 0;  // threads that came; those that a warp which came lacks count too
    std::uint32_t waiters = 0;   // threads that came and wait
    std::uint32_t count = 0;
    std::uint32_t threads = 0;
  };
  bool try_complete(const barrier_rules& rules, unsigned number, barrier_outcome& o);

  std::uint64_t live_ = 0;
  std::uint64_t waiting_ = 0;
  std::uint32_t live_threads_ = 0;
  std::uint32_t waiters_ = 0;  // threads
  std::array<std::uint8_t, 64> waits_at_{};
  std::array<barrier, 16> barriers_{};
};

}  // namespace heddle

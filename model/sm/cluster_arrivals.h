// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heddle/simt/warp/context_image.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// A block's part of the barrier of its thread block cluster: which of its threads have arrived in the present phase,
/// and which wait for the end of it. A phase ends when all threads of the cluster that have not exited have arrived.
class cluster_arrivals {
 public:
  /// A block with `threads` threads.
  void open(unsigned threads);
  /// Saves the state to a context, or restores it.
  void exchange(simt::context_image& image);
  void exchange(state_image& image) { image(live_, arrived_, complete_, waiting_, lanes_, lanes_there_); }

  /// The lanes of the warp arrive.
  void arrive(unsigned warp, simt::lane_mask lanes);
  /// The lanes of the warp wait. Returns those whose phase has not ended: they have arrived in the present one.
  simt::lane_mask wait(unsigned warp, simt::lane_mask lanes);
  /// The lanes of the warp have exited. Those that are known to have exited may be named again.
  void exited(unsigned warp, simt::lane_mask lanes);
  /// All threads of the block that are left have arrived; true once in a phase.
  bool complete();
  /// The phase has ended. Returns the warps of the block that waited for it.
  std::uint64_t release();

  /// Some threads have not exited.
  [[nodiscard]] bool live() const { return live_ != 0; }
  /// Warps that wait.
  [[nodiscard]] const std::uint64_t& waiting() const { return waiting_; }  // a reference, for tracing

 private:
  std::uint32_t live_ = 0;     // threads
  std::uint32_t arrived_ = 0;  // threads that have not exited
  bool complete_ = false;
  std::uint64_t waiting_ = 0;
  static constexpr std::size_t most_warps = 64;
  // By warp; empty before the first block.
  std::vector<simt::lane_mask> lanes_;        // that have arrived
  std::vector<simt::lane_mask> lanes_there_;  // that have not exited
};

}  // namespace heddle

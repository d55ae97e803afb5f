// SPDX-License-Identifier: MIT
// Models: the named barriers of the blocks resident on an SM.
// Sockets: none; the SM passes arrivals on and resumes the warps that a completed barrier releases.
// One cycle: an arrival completes its barrier when all warps of the block that still live (or the count given) have come;
//   when lanes are independent, when all its threads that still live (or the count given) have.
// Parameters: sm.barriers_per_block, sm.max_blocks, sub_partition.divergence. Source: PTX ISA, bar and barrier.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "config/parameters.h"
#include "isa/instruction.h"
#include "simt/context_image.h"
#include "simt/warp_state.h"

namespace heddle {

class barrier_unit : public sc_core::sc_module {
 public:
  barrier_unit(sc_core::sc_module_name name, const gpu_config& config);

  /// A block of `warps` warps with `threads` threads took the CTA slot.
  void open(unsigned cta_slot, unsigned warps, unsigned threads);

  /// Writes the state of the block in the CTA slot to a context, or takes it from there.
  void exchange(unsigned cta_slot, simt::context_image& image);

  /// What an arrival, or an exit, brought about.
  struct outcome {
    std::uint64_t release = 0;     // warps of the block that go on, bit per warp
    unsigned barrier = 0;          // the one that it is about
    bool waits = false;            // the arriving warp is among those that wait, or that are released
    bool deadlock = false;         // all that live in the block wait and no barrier can complete
    std::uint32_t count = 0;       // reduction: threads whose predicate held
    std::uint32_t threads = 0;     // reduction: threads that took part
  };
  /// Warp `warp` of the block executed `bar` with the lanes of `mask`. Throws input_error-like text through `error` when
  /// the barrier number or the thread count is not allowed.
  outcome arrive(unsigned cta_slot, unsigned warp, const isa::instruction& bar, const simt::warp_state& state,
                 simt::lane_mask mask, std::string& error);
  /// `lanes` of the warp have exited, its `last` ones perhaps. Ask after_exit what that brought about, until nothing.
  void exited(unsigned cta_slot, unsigned warp, simt::lane_mask lanes, bool last);
  outcome after_exit(unsigned cta_slot);
  /// Warps of the block that wait at a barrier.
  std::uint64_t waiting(unsigned cta_slot) const { return blocks_[cta_slot].waiting; }
  /// All that live in the block wait and no barrier can complete.
  bool deadlocked(unsigned cta_slot) const { return stuck(blocks_[cta_slot]); }
  unsigned waits_at(unsigned cta_slot, unsigned warp) const { return blocks_[cta_slot].waits_at[warp]; }

  void trace(sc_core::sc_trace_file* file) const override;
  std::uint64_t completed = 0;     // barriers completed

 private:
  struct barrier {
    std::uint64_t arrived = 0;     // warps that came (waiting or not)
    std::uint64_t waiting = 0;     // those that wait
    std::uint32_t expected = 0;    // threads, in whole warps; 0: all that live
    std::uint32_t arrivals = 0;    // threads that came; those that a warp which came lacks count too
    std::uint32_t waiters = 0;     // threads that came and wait
    std::uint32_t count = 0;
    std::uint32_t threads = 0;
  };
  struct block {
    std::uint64_t live = 0;
    std::uint64_t waiting = 0;
    std::uint32_t live_threads = 0;
    std::uint32_t waiters = 0;     // threads
    std::array<std::uint8_t, 64> waits_at{};
    std::array<barrier, 16> barriers{};
  };
  bool try_complete(block& b, unsigned number, outcome& o);
  bool stuck(const block& b) const;

  unsigned barriers_;
  bool per_thread_;                // lanes are independent: threads are counted, not warps
  std::vector<block> blocks_;
};

}  // namespace heddle

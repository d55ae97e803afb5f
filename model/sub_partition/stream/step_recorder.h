// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/isa/recording.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle {

struct resident_launch;
class step_recorder;

/// What a warp has executed, in the order of issue, since the recorder has taken what was before.
struct warp_steps {
  static constexpr std::size_t most_steps = 512, most_addresses = 1024;  // then the recorder takes them
  /// Set in a record's `addresses`: only the first address and the difference to the next ones are kept.
  static constexpr std::uint32_t even = 1u << 31;
  std::vector<isa::executed_step> steps;  // `addresses`: one plus the index in `addresses`; 0: none
  std::vector<std::uint64_t> addresses;   // of the lanes in the mask
  step_recorder* recorder = nullptr;
  std::uint32_t launch = 0;
  std::uint32_t warp = 0;    // in its block
  std::uint64_t number = 0;  // of the block in the grid
  simt::dim3 block;

  void add(std::uint32_t pc, simt::lane_mask mask, simt::lane_mask active) {
    if (steps.size() >= most_steps || addresses.size() >= most_addresses) give();
    steps.push_back({pc, active, mask, 0});
  }
  void mark(std::uint32_t flag) { steps.back().instruction |= flag; }
  /// Of the last step.
  void add_addresses(const std::uint64_t* by_lane);
  /// The other end of the copy that was added last.
  void add_target(simt::lane_mask lanes, simt::lane_mask reading, const std::uint64_t* by_lane);

 private:
  void give();
};

/// Interface to what records the warps of a run. Warps of different SMs call it from different threads.
class step_recorder {
 public:
  virtual ~step_recorder() = default;
  /// A warp begins. The result is valid until the warp has ended; null: it is not recorded.
  virtual warp_steps* begun(const resident_launch& launch, const simt::block_context& block, std::uint32_t warp) = 0;
  /// The warp has so many steps that they are to be taken now.
  virtual void take(warp_steps& steps) = 0;
  virtual void ended(const warp_steps& steps) = 0;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/stream/executed_stream.h"
#include "heddle/sub_partition/stream/step_recorder.h"

namespace heddle {

/// The warp executes its program, and what it does is recorded, for followed_stream.
class recording_stream final : public executed_stream {
 public:
  recording_stream(const surroundings& s, step_recorder& recorder) : executed_stream(s), recorder_(recorder) {}

  void begin(warp_slot& w) const override;
  [[nodiscard]] bool lanes_present(unsigned slot, simt::lane_mask mask, cycle_t cycle) const override;
  void issue_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle, unsigned latency) const override;
  void issue_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) const override;
  [[nodiscard]] bool yields(unsigned slot, simt::lane_mask mask, cycle_t cycle) const override;
  bool addresses(unsigned slot, simt::lane_mask mask, lsu_transaction& t) const override;
  bool copy_target_of(unsigned slot, lsu_transaction& t, copy_target& to) const override;

 private:
  bool branch(warp_slot& w, simt::lane_mask mask) const override;

  step_recorder& recorder_;
};

}  // namespace heddle

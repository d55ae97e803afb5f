// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {

/// What streams and memory instructions say about a warp: when it continues.
class warp_control {
 public:
  /// The slot's warp waits for its next instruction from `from` on; it is in the buffer in cycle `fetch_at`.
  /// `redirected`: the fetch follows a taken branch.
  virtual void settle(unsigned slot, cycle_t from, cycle_t fetch_at, bool redirected) = 0;
  /// Evaluates again when the operands of a waiting warp are available.
  virtual void reconsider(unsigned slot, cycle_t cycle) = 0;
  /// The warp's present wait ends in `cycle`, after the current one.
  virtual void set_timer(unsigned slot, cycle_t cycle) = 0;
  /// An exited warp has no outstanding loads and its stores are taken: its slot is free from `cycle` on.
  virtual void finish(unsigned slot, cycle_t cycle) = 0;

 protected:
  ~warp_control() = default;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "heddle/sub_partition/account/warp_state.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// The input of one execution unit as the scheduler sees it: open, or closed for a reason. It accumulates closed cycles
/// by reason. Why a warp waited from cycle a to cycle b follows by subtraction, without counting in each cycle.
class issue_gate {
 public:
  struct closed_cycles {
    std::uint64_t busy = 0;       // the unit's input is held (initiation interval), or its queue has no room
    std::uint64_t stalled = 0;    // nothing issues while operands are read
    std::uint64_t throttled = 0;  // no room because the memory system blocks the load/store unit

    void exchange(state_image& image) { image(busy, stalled, throttled); }
  };

  using closure = unit_input;

  [[nodiscard]] bool open(cycle_t cycle) const {
    return cycle >= free_at_ && !blocked_;
  }  // free_at_ is not before stalled_until_
  /// First cycle in which the gate can be open; `never` while it is blocked.
  [[nodiscard]] cycle_t opens_at() const { return blocked_ ? never : free_at_; }

  /// An instruction entered in `cycle` and holds the input for `initiation` cycles, that one included.
  void take(cycle_t cycle, unsigned initiation) {
    advance(cycle + 1);
    free_at_ = std::max(cycle + initiation, stalled_until_);
  }
  /// Another sub-partition's instruction holds the input in [cycle, until).
  void hold(cycle_t cycle, cycle_t until) {
    advance(cycle);
    free_at_ = std::max(free_at_, until);
  }
  /// From `cycle` on the queue behind the input is full, or has room again.
  void set_blocked(bool blocked, cycle_t cycle) {
    if (blocked == blocked_) return;
    advance(cycle);
    blocked_ = blocked;
  }
  void set_throttled(bool throttled, cycle_t cycle) {
    advance(cycle);
    throttled_ = throttled;
  }
  [[nodiscard]] bool throttled() const { return throttled_; }

  /// The whole issue stage stalls in [cycle, until).
  void stall(cycle_t cycle, cycle_t until) {
    advance(cycle);
    stalled_until_ = std::max(stalled_until_, until);
    free_at_ = std::max(free_at_, until);
  }

  /// State in `cycle` if nothing else happens before; `cycle` must not precede any reported event.
  [[nodiscard]] closure closure_at(cycle_t cycle) const {
    if (cycle < stalled_until_) return closure::stalled;
    if (blocked_) return throttled_ ? closure::throttled : closure::busy;
    return cycle < free_at_ ? closure::busy : closure::open;
  }
  /// Next cycle after `cycle` in which that state changes by time alone; `never`: it does not.
  [[nodiscard]] cycle_t changes_after(cycle_t cycle) const {
    if (cycle < stalled_until_) return stalled_until_;
    return !blocked_ && cycle < free_at_ ? free_at_ : never;
  }

  /// Closed cycles in [0, cycle).
  closed_cycles until(cycle_t cycle) {
    advance(cycle);
    return closed_;
  }

  void exchange(state_image& image) { image(free_at_, last_, stalled_until_, blocked_, throttled_, closed_); }

 private:
  void advance(cycle_t cycle) {
    if (cycle <= last_) return;
    if (__builtin_expect(stalled_until_ > last_, 0)) {
      const cycle_t to = std::min(stalled_until_, cycle);
      closed_.stalled += to - last_;
      last_ = to;
      if (cycle <= last_) return;
    }
    if (blocked_ && throttled_) closed_.throttled += cycle - last_;
    else if (blocked_) closed_.busy += cycle - last_;
    else if (free_at_ > last_) closed_.busy += std::min(free_at_, cycle) - last_;
    last_ = cycle;
  }

  cycle_t free_at_ = 0;
  cycle_t last_ = 0;
  cycle_t stalled_until_ = 0;
  bool blocked_ = false;
  bool throttled_ = false;
  closed_cycles closed_;
};

}  // namespace heddle

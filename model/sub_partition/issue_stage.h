// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "heddle/config/error.h"
#include "heddle/config/parameters.h"
#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/dependence/dependence.h"
#include "heddle/sub_partition/fetch/fetch.h"
#include "heddle/sub_partition/fetch/immediate_constants.h"
#include "heddle/sub_partition/issue/last_issue.h"
#include "heddle/sub_partition/issue/memory_hold.h"
#include "heddle/sub_partition/issue/unit_dispatch.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/issue/write_ports.h"
#include "heddle/sub_partition/memory/memory_issue.h"
#include "heddle/sub_partition/system_calls.h"
#include "heddle/sub_partition/warp/fault_reporter.h"
#include "heddle/sub_partition/warp/warp_table.h"
#include "heddle/sub_partition/warp_waits.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// The issue stage of a sub-partition: in each cycle one warp is selected and issues an instruction, or two consecutive
/// ones if the issue width and the pairing rule allow it.
class issue_stage {
 public:
  /// The parts of the sub-partition, which must outlive this one.
  struct surroundings {
    warp_table& warps;
    warp_scheduler& scheduler;
    class dependence& dependence;
    stall_account& account;
    class fetch& fetch;
    warp_waits& waits;
    memory_issue& memory;
    write_ports& ports;
    fault_reporter& faults;
    class immediate_constants& immediate_constants;
    system_calls& calls;
    clock_port clock;  // of the sub-partition
  };
  issue_stage(const surroundings& s, const gpu_config& config, unsigned index, warp_supervisor& supervisor);

  /// Lets a warp issue, if one can. Not twice in a cycle.
  void run(cycle_t cycle) {
    hot_.last.count = 0;
    if (hot_.scheduler.holds_memory()) hot_.hold.update(cycle);
    const std::uint64_t eligible = cycle < hot_.replays_until ? 0 : hot_.scheduler.eligible(cycle);
    if (eligible != 0) issue_from(hot_.scheduler.select(eligible, cycle), cycle);
  }
  /// Wakes the sub-partition in the first cycle after `cycle` in which a wait may end or a warp may issue.
  [[gnu::always_inline]] void wake_after(cycle_t cycle);  // in every cycle, so without a call

  /// The slot holds another warp.
  void placed(unsigned slot) {
    if (hot_.last_slot == slot) hot_.reuses = nullptr;
  }
  /// The slot's warp is stopped; the policy holds it no more.
  void stopped(unsigned slot) { hot_.hold.forget(slot); }
  [[nodiscard]] bool dual_issue() const { return hot_.pairing_rule != pairing::none; }
  [[nodiscard]] const last_issue& last() const { return hot_.last; }
  void prefetch() const;

  [[nodiscard]] unit_dispatch& dispatch() { return hot_.dispatch; }
  void exchange(state_image& image) {
    image(hot_.dispatch, hot_.last_slot, hot_.reuses, hot_.replays_until, hot_.last, hot_.hold, next_fence_);
  }

 private:
  enum class pairing : std::uint8_t { none, any, maxwell };

  static pairing pairing_of(const sub_partition_parameters& p);
  void issue_from(unsigned slot, cycle_t cycle);
  static void count_apart(const warp_slot& w, simt::lane_mask mask, unsigned lanes);
  /// Issues the warp's next instruction. Returns true if the warp continues in sequence and may issue a second one.
  bool issue_one(unsigned slot, warp_slot& w, cycle_t cycle);
  bool pairs(const decoded_instruction& first, unsigned slot, warp_slot& w, cycle_t cycle);
  void issue_arithmetic(unsigned slot, warp_slot& w, simt::lane_mask mask, cycle_t cycle);
  void issue_conflicting(unsigned slot, const warp_slot& w, cycle_t cycle, unsigned latency);
  void issue_fence(unsigned slot, warp_slot& w, cycle_t cycle);
  void issue_sleep(unsigned slot, warp_slot& w, simt::lane_mask mask, cycle_t cycle);
  bool issue_asynchronous(unsigned slot, warp_slot& w, simt::lane_mask mask, cycle_t cycle);
  void replay(unsigned slot, warp_slot& w, std::uint32_t sequence, cycle_t cycle);
  unsigned send(warp_slot& w, simt::lane_mask mask, cycle_t cycle) {
    return hot_.dispatch.send(w.state, *w.next, mask, cycle);
  }

  /// What nearly every issue touches, for prefetches.
  struct alignas(64) hot_state : surroundings {
    hot_state(const surroundings& s, const gpu_config& config, unsigned index, warp_supervisor& supervisor);

    unit_dispatch dispatch;
    const pairing pairing_rule;                   // also none if the issue width is 1
    const bool read_window;                       // operands are read in a fixed window, without a collector
    unsigned last_slot = 0;                       // the warp that issued the last arithmetic instruction,
    const decoded_instruction* reuses = nullptr;  // and the one after it: that one's operands are in the reuse cache
    cycle_t replays_until = 0;                    // issue slots before this cycle are taken by replays
    last_issue last;
    memory_hold hold;
  };
  static_assert(sizeof(hot_state) == 384, "six cache lines");

  hot_state hot_;
  const unsigned fence_latency_;   // least cycles of a fence that releases
  const unsigned fence_interval_;  // cycles from the beginning of one to that of the next
  cycle_t next_fence_ = 0;         // first cycle in which one may begin
};

inline void issue_stage::wake_after(cycle_t cycle) {
  const cycle_t at =
      std::min(hot_.waits.next(cycle), hot_.scheduler.next_eligible(std::max(cycle + 1, hot_.replays_until)));
  if (at != never) hot_.clock.wake_at(at);
  // No event reports what releases a held warp (falling scores, room in the memory system), so the policy is called
  // each cycle.
  if (hot_.hold.any()) hot_.clock.wake_at(cycle + 1);
}

}  // namespace heddle

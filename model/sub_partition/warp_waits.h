// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/dependence/dependence.h"
#include "heddle/sub_partition/fetch/fetch.h"
#include "heddle/sub_partition/fetch/immediate_constants.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/issue/warp_timers.h"
#include "heddle/sub_partition/stream/warp_control.h"
#include "heddle/sub_partition/warp/warp_supervisor.h"
#include "heddle/sub_partition/warp/warp_table.h"
#include "heddle/sub_partition/warp_residence.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

constexpr unsigned system_scope = 2;  // as encoded in MEMBAR

/// What the warps of a sub-partition wait for, and when they continue: each waits for its next instruction and its
/// operands, for a time, a fence or a barrier. A warp whose next instruction needs only its unit is given to the
/// scheduler.
class warp_waits final : public warp_control {
 public:
  /// The parts of the sub-partition, which must outlive this one.
  struct surroundings {
    warp_table& warps;
    warp_scheduler& scheduler;
    class dependence& dependence;
    stall_account& account;
    class fetch& fetch;
    class immediate_constants& immediate_constants;
    warp_residence& residence;
    warp_supervisor& supervisor;
    clock_port clock;  // of the sub-partition
  };
  explicit warp_waits(const surroundings& s) : hot_(s) {}

  /// The slot's warp begins or continues at its pc, and its instruction buffer is empty.
  void start(unsigned slot, cycle_t cycle);
  /// Ends the waits that end in `cycle`.
  void run_timers(cycle_t cycle);
  /// The first cycle after `cycle` in which a wait may end; never: there is none.
  [[nodiscard]] cycle_t next(cycle_t cycle) const;

  // warp_control
  void settle(unsigned slot, cycle_t from, cycle_t fetch_at, bool redirected) override;
  void reconsider(unsigned slot, cycle_t cycle) override;
  void set_timer(unsigned slot, cycle_t cycle) override { set_timer(slot, hot_.warps[slot], cycle); }
  void finish(unsigned slot, cycle_t cycle) override;

  /// The slot's warp issues SETMAXREG; others of its block may wait for the registers that it gives back.
  void change_registers(unsigned slot, cycle_t cycle);

  // From the SM
  /// The slot's buffer, which waited for a line of code from memory, is filled at a known time now.
  void instructions_arrived(unsigned slot, cycle_t cycle);
  /// The system-scope fence that the slot's warp began with begin_system_fence has been performed.
  void system_fence_performed(unsigned slot, cycle_t cycle);
  /// The lanes of `mask`, independent and active in the slot's warp, wait at barrier `number`.
  void stop_at_barrier(unsigned slot, simt::lane_mask mask, unsigned number);
  /// Writes the result of a reducing barrier to its waiting lanes: of `threads` arrived threads, `count` had the
  /// predicate true.
  void deliver_reduction(unsigned slot, unsigned number, std::uint32_t count, std::uint32_t threads);
  /// Barrier `number`, at which the slot's warp or some of its lanes wait, has completed. A warp that has no other
  /// lanes to run resumes at `cycle`.
  void resume_from_barrier(unsigned slot, unsigned number, cycle_t cycle);

  /// The phase of an mbarrier of the block has completed: lanes of the slot's warp that wait for it continue at
  /// `cycle`.
  void resume_from_mbarrier(unsigned slot, cycle_t cycle);
  /// All lanes of the slot's warp that wait may do so until `cycle`, if they all wait.
  void limit_mbarrier_wait(unsigned slot, cycle_t cycle);
  /// A bulk copy of the slot's warp begins, one that completes in a group. Returns its group.
  std::uint32_t bulk_begun(unsigned slot);
  /// The bulk copy of this group has been written, or (`read`) has read shared memory. `residency`: of its warp.
  void bulk_answered(unsigned slot, std::uint16_t residency, std::uint32_t group, bool read, cycle_t cycle);

  void exchange(state_image& image) { image(hot_.timers); }

  /// Prefetches what the units need in `cycle`,
  void prefetch(cycle_t cycle) const;
  /// and then warps whose wait ends in that cycle, and one ready warp.
  void prefetch_warps(cycle_t cycle) const;

 private:
  [[nodiscard]] bool registers_free(const warp_slot& w) const;
  void registers_given_back(const simt::block_context* block, cycle_t cycle);
  [[nodiscard]] bool accesses_hold(unsigned slot, warp_slot& w) const;
  void evaluate(unsigned slot, warp_slot& w, cycle_t cycle);
  void look_up_constant(warp_slot& w);
  void make_ready(unsigned slot, warp_slot& w, cycle_t cycle);
  void set_timer(unsigned slot, warp_slot& w, cycle_t cycle) {
    w.timer = cycle;
    hot_.timers.set(slot, cycle, hot_.clock.cycle());
  }
  void on_timer(unsigned slot, warp_slot& w, cycle_t cycle);
  void resume_waiting(unsigned slot, warp_slot& w, cycle_t cycle);
  void prefetch_warp(unsigned slot) const;
  [[nodiscard]] auto timer_of() const {
    return [this](unsigned slot) { return hot_.warps[slot].timer; };
  }

  /// What every active cycle touches, for prefetches; of the timers only the part before their wheel.
  struct alignas(64) hot_state : surroundings {
    explicit hot_state(const surroundings& s) : surroundings(s) {}
    warp_timers timers;
  };
  static constexpr std::size_t hot_bytes = 128;
  static_assert(sizeof(surroundings) + warp_timers::first_bytes <= hot_bytes, "two cache lines");

  hot_state hot_;
};

inline cycle_t warp_waits::next(cycle_t cycle) const { return hot_.timers.next(cycle, timer_of()); }

}  // namespace heddle

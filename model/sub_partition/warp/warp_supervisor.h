// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/protocol/fault_details.h"

namespace heddle {

/// Interface from a sub-partition to the SM that contains it.
class warp_supervisor {
 public:
  virtual ~warp_supervisor() = default;
  /// The warp with warp id `warp` on the SM has exited, none of its loads is outstanding, and the load/store unit has
  /// taken the data of its stores. The slot is free from `cycle` on. `stores_left`: some of its stores are not yet
  /// acknowledged; stores_settled reports when all are. `executed`: instructions since it came to the slot. Returns an
  /// id of the warp's block for that call.
  virtual std::uint64_t warp_finished(unsigned warp, bool stores_left, std::uint64_t executed, cycle_t cycle) = 0;
  /// All stores that a finished warp of the block left behind are acknowledged.
  virtual void stores_settled(std::uint64_t block, cycle_t cycle) = 0;
  /// Lanes of the warp have exited in `cycle`; instructions that they issued earlier may still be in flight. With
  /// independent lanes it is called for every exit of lanes, otherwise when the warp's last lanes exit.
  virtual void lanes_exited(unsigned warp, simt::lane_mask lanes, cycle_t cycle) = 0;
  /// The warp executed BAR in `cycle`. Returns false if it need not wait (arrive). Waiting warps are resumed by
  /// warp_waits::resume_from_barrier; independent lanes that wait are first stopped by stop_at_barrier.
  virtual bool barrier_arrive(unsigned warp, const isa::instruction& bar, simt::lane_mask mask, cycle_t cycle) = 0;
  /// The lanes of `mask` execute an instruction for the TMA.
  virtual void bulk_copies(unsigned warp, const isa::instruction& i, simt::lane_mask mask, cycle_t cycle) {
    static_cast<void>(warp), static_cast<void>(i), static_cast<void>(mask), static_cast<void>(cycle);
  }
  /// Lanes of the warp have arrived at mbarriers of its block.
  virtual void mbarrier_arrived(unsigned warp, cycle_t cycle) { static_cast<void>(warp), static_cast<void>(cycle); }
  /// A stopped warp has no outstanding memory instruction any more.
  virtual void warp_quiet(unsigned warp) = 0;
  /// The simulated program failed. The text names kernel, PTX line, block and thread.
  virtual void program_fault(const std::string& text) = 0;
  /// As program_fault; `details` name device memory whose contents complete the text.
  virtual void program_fault_with(const std::string& text, const fault_details& details) {
    static_cast<void>(details);
    program_fault(text);
  }
  /// A warp has issued a system-scope fence. Returns false if no other device shares the GPU's memory; then nothing is
  /// to be waited for. Otherwise warp_waits::system_fence_performed is called when the fence is performed.
  virtual bool begin_system_fence(unsigned warp, std::uint32_t launch, cycle_t cycle) {
    return static_cast<void>(warp), static_cast<void>(launch), static_cast<void>(cycle), false;
  }
  /// A warp has passed a fence of `scope` (MEMBAR's): its later loads must observe the stores that other threads of the
  /// scope made before their own fences.
  virtual void fence_passed(unsigned scope) { static_cast<void>(scope); }
  /// The sub-partition has issued an instruction that also occupies the other sub-partitions' next issue cycle.
  virtual void issued_alone(unsigned sub_partition, cycle_t cycle) {
    static_cast<void>(sub_partition), static_cast<void>(cycle);
  }
  /// The sub-partition's instruction holds a unit shared by all sub-partitions in [cycle, until).
  virtual void shared_unit_taken(isa::unit unit, unsigned sub_partition, cycle_t cycle, cycle_t until) {
    static_cast<void>(unit), static_cast<void>(sub_partition), static_cast<void>(cycle), static_cast<void>(until);
  }
  /// A tensor unit reads `bytes` bytes of shared memory from `cycle` on, beside other accesses. Returns the cycle in
  /// which it has read them.
  virtual cycle_t matrix_operands_read(std::uint32_t launch, unsigned bytes, cycle_t cycle) {
    return static_cast<void>(launch + bytes), cycle;
  }
  /// Warps of this warp's block on its sub-partition, those that have exited included.
  [[nodiscard]] virtual unsigned block_warps_beside(unsigned warp) const { return static_cast<void>(warp), 0; }
  /// The SM's memory system can hardly take another miss.
  [[nodiscard]] virtual bool memory_saturated() const { return false; }
};

}  // namespace heddle

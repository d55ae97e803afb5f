// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/simt/warp/context_image.h"
#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/dependence/dependence.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/issue_stage.h"
#include "heddle/sub_partition/warp/warp_table.h"
#include "heddle/sub_partition/warp_residence.h"
#include "heddle/sub_partition/warp_waits.h"

namespace heddle {

/// Context switch in a sub-partition: its warps are stopped between two instructions, written out, and restored. The
/// order of calls is stop, exchange, swap_out; then swap_in, exchange, resume.
class context_switch {
 public:
  /// The parts of the sub-partition, which must outlive this one.
  struct surroundings {
    warp_table& warps;
    warp_scheduler& scheduler;
    class dependence& dependence;
    stall_account& account;
    warp_residence& residence;
    warp_waits& waits;
    issue_stage& issue;
  };
  explicit context_switch(const surroundings& s) : s_(s) {}

  /// The slot's warp issues nothing from `cycle` on. A warp that has already exited finishes normally.
  void stop(unsigned slot, cycle_t cycle);
  /// First cycle in which the results of all instructions of the slot's warp are available, except memory instructions.
  [[nodiscard]] cycle_t settled(unsigned slot) const { return s_.dependence.settled(slot, *s_.warps[slot].program); }
  /// Writes a stopped warp to a context image, or restores it from one. Throws program_error if the image is not a
  /// valid warp of this program.
  void exchange(unsigned slot, simt::context_image& image);
  /// The stopped warp's context is in memory: frees the slot and erases the warp's state. Returns the instructions that
  /// the warp has executed since it came to the slot.
  std::uint64_t swap_out(unsigned slot, cycle_t cycle);
  /// Reserves the slot for a warp that is swapped in. The warp is active from `cycle` on, and stopped.
  void swap_in(unsigned slot, const resident_launch& launch, const simt::block_context& block, unsigned warp_in_block,
               unsigned allocated_registers, cycle_t cycle);
  /// The stopped warp may issue from `cycle` on.
  void resume(unsigned slot, cycle_t cycle);
  /// Hash of the architectural state of the slot's warp: registers, predicates, program counters of its lanes. Equal
  /// states have equal fingerprints.
  std::uint64_t fingerprint(unsigned slot);

 private:
  const surroundings s_;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/simt/warp/warp_state.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {

/// What the units within a sub-partition ask of it: when a warp continues, and what a failure means.
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
  /// Instruction `d` of the slot's warp failed on `lane`.
  virtual void fault(unsigned slot, const decoded_instruction& d, unsigned lane, const std::string& what) = 0;
  /// As fault, for a warp that may have left its slot.
  virtual void fault_of(const resident_launch& launch, const simt::dim3& block, std::uint32_t thread,
                        const decoded_instruction& d, const std::string& what) = 0;
  /// The simulated program failed; nothing issues any more.
  [[nodiscard]] virtual bool halted() const = 0;

 protected:
  ~warp_control() = default;
};

}  // namespace heddle

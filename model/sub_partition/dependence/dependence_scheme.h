// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/dependence/scoreboard.h"
#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

/// How a sub-partition knows when the operands of a warp's next instruction are available. `slot`: of the warp; `d`:
/// one of its instructions. The implementations are final and are called as such, so that no issue costs a virtual
/// call.
class dependence_scheme {
 public:
  virtual ~dependence_scheme() = default;
  [[nodiscard]] virtual scoreboard::answer probe(unsigned slot, const decoded_instruction& d) const = 0;
  /// The results are available from `cycle` on.
  virtual void set_ready(unsigned slot, const decoded_instruction& d, cycle_t cycle) = 0;
  /// The results have unknown latency: pending until release().
  virtual void set_pending(unsigned slot, const decoded_instruction& d, producer kind) = 0;
  virtual void release(unsigned slot, const decoded_instruction& d, cycle_t cycle, producer kind) = 0;
  /// First cycle in which all results of the slot's instructions are available. None may be pending.
  [[nodiscard]] virtual cycle_t settled(unsigned slot, const decoded_program& p) const = 0;
  /// A new warp of program `p`.
  virtual void clear(unsigned slot, const decoded_program& p) = 0;
  /// `d` issues; its operands are read in `cycle`.
  virtual void issued(unsigned slot, const decoded_instruction& d, cycle_t cycle) = 0;
  /// The memory instruction `d` will have read its source registers in `cycle`.
  virtual void set_read(unsigned slot, const decoded_instruction& d, cycle_t cycle, producer kind) = 0;
  /// The warp continues elsewhere than behind its last instruction.
  virtual void redirected(unsigned slot) = 0;
  /// Whether an execution unit may answer a longer latency than that of `d`.
  [[nodiscard]] virtual bool allows_longer(const decoded_instruction& d) const = 0;
  /// Samples for the waveform what is pending for the slot's warp, of `registers` registers at most.
  virtual void sample(unsigned slot, const decoded_program& p, unsigned registers, cycle_t cycle) const = 0;
  /// Prefetches the slot's state.
  virtual void prefetch(unsigned slot) const = 0;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/error.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/dependence/dependence_counters.h"
#include "heddle/sub_partition/dependence/scoreboard.h"

namespace heddle {

/// When the operands of a warp's next instruction are available: as the scoreboard knows it or, in a program with
/// control codes, as the dependence counters that they name. With tlm.check the scoreboard runs beside the control
/// codes, and no instruction may issue earlier than it allows.
class dependence {
 public:
  dependence(unsigned slots, bool checks_codes)
      : scoreboard("scoreboard", slots), counters("dependence_counters", slots), checks_codes_(checks_codes) {}

  class scoreboard scoreboard;
  dependence_counters counters;

  [[nodiscard]] scoreboard::answer probe(unsigned slot, const decoded_program& p, const decoded_instruction& d) const {
    return p.control_codes ? counters.probe(slot, d) : scoreboard.probe(slot, d);
  }
  /// The results are available from `cycle` on.
  void set_ready(unsigned slot, const decoded_program& p, const decoded_instruction& d, cycle_t cycle) {
    if (p.control_codes) counters.set_ready(slot, d, cycle);
    if (keeps_scoreboard(p)) scoreboard.set_ready(slot, *d.instruction, cycle, d.result, d.guard_cycles);
  }
  /// The results have unknown latency: pending until release.
  void set_pending(unsigned slot, const decoded_program& p, const decoded_instruction& d, producer kind) {
    if (p.control_codes) counters.set_pending(slot, d, kind);
    if (keeps_scoreboard(p)) scoreboard.set_pending(slot, *d.instruction, kind);
  }
  void release(unsigned slot, const decoded_program& p, const decoded_instruction& d, cycle_t cycle, producer kind) {
    if (p.control_codes) counters.release(slot, d, cycle);
    if (keeps_scoreboard(p)) scoreboard.set_ready(slot, *d.instruction, cycle, kind);
  }
  /// First cycle in which all results of the slot's instructions are available. None may be pending.
  [[nodiscard]] cycle_t settled(unsigned slot, const decoded_program& p) const {
    return p.control_codes ? counters.settled(slot) : scoreboard.settled(slot, p.scoreboard_registers);
  }
  /// A new warp of program `p`.
  void clear(unsigned slot, const decoded_program& p) {
    if (p.control_codes) counters.clear(slot);
    if (keeps_scoreboard(p)) scoreboard.clear(slot, p.scoreboard_registers);
  }
  [[nodiscard]] bool checks_codes() const { return checks_codes_; }
  /// An instruction of a program with control codes issues in `cycle`.
  void check_codes(unsigned slot, const decoded_instruction& d, cycle_t cycle) const {
    invariant(scoreboard.probe(slot, d).cycle <= cycle,
              "control codes let an instruction issue before its operands were ready");
  }

 private:
  [[nodiscard]] bool keeps_scoreboard(const decoded_program& p) const { return !p.control_codes || checks_codes_; }

  const bool checks_codes_;  // tlm.check
};

}  // namespace heddle

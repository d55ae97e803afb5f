// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/dependence/dependence_scheme.h"

namespace heddle {

/// As the scoreboard knows it: of programs without control codes.
class scoreboard_scheme final : public dependence_scheme {
 public:
  explicit scoreboard_scheme(unsigned slots) : board("scoreboard", slots) {}

  scoreboard board;

  [[nodiscard]] scoreboard::answer probe(unsigned slot, const decoded_instruction& d) const override {
    return board.probe(slot, d);
  }
  void set_ready(unsigned slot, const decoded_instruction& d, cycle_t cycle) override {
    board.set_ready(slot, *d.instruction, cycle, d.result, d.guard_cycles);
  }
  void set_pending(unsigned slot, const decoded_instruction& d, producer kind) override {
    board.set_pending(slot, *d.instruction, kind);
  }
  void release(unsigned slot, const decoded_instruction& d, cycle_t cycle, producer kind) override {
    board.set_ready(slot, *d.instruction, cycle, kind);
  }
  [[nodiscard]] cycle_t settled(unsigned slot, const decoded_program& p) const override {
    return board.settled(slot, p.scoreboard_registers);
  }
  void clear(unsigned slot, const decoded_program& p) override { board.clear(slot, p.scoreboard_registers); }
};

}  // namespace heddle

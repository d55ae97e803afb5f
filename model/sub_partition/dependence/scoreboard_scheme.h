// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "heddle/sub_partition/dependence/dependence_scheme.h"

namespace heddle {

/// As the scoreboard knows it: of programs without control codes.
class scoreboard_scheme final : public dependence_scheme {
 public:
  scoreboard_scheme(sc_core::sc_module& owner, unsigned slots) : board({"scoreboard", &owner}, slots) {}

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
  // It knows results alone.
  void issued(unsigned, const decoded_instruction&, cycle_t) override {}
  void set_read(unsigned, const decoded_instruction&, cycle_t, producer) override {}
  void redirected(unsigned) override {}
  [[nodiscard]] bool allows_longer(const decoded_instruction&) const override { return true; }
  void sample(unsigned slot, const decoded_program& p, unsigned registers, cycle_t cycle) const override {
    board.sample(slot, std::min(registers, p.scoreboard_registers), cycle);
  }
  void prefetch(unsigned slot) const override { board.prefetch(slot); }
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/error.h"
#include "heddle/sub_partition/dependence/dependence_counters.h"
#include "heddle/sub_partition/dependence/scoreboard_scheme.h"

namespace heddle {

/// As the dependence counters that a program's control codes name. `check`: a scoreboard that runs beside them, null
/// without tlm.check; no instruction may issue earlier than it allows.
class control_code_scheme final : public dependence_scheme {
 public:
  control_code_scheme(sc_core::sc_module& owner, unsigned slots, scoreboard_scheme* check)
      : counters({"dependence_counters", &owner}, slots), check_(check) {}

  dependence_counters counters;

  [[nodiscard]] scoreboard::answer probe(unsigned slot, const decoded_instruction& d) const override {
    return counters.probe(slot, d);
  }
  void set_ready(unsigned slot, const decoded_instruction& d, cycle_t cycle) override {
    counters.set_ready(slot, d, cycle);
    if (checks()) check_->set_ready(slot, d, cycle);
  }
  void set_pending(unsigned slot, const decoded_instruction& d, producer kind) override {
    counters.set_pending(slot, d, kind);
    if (checks()) check_->set_pending(slot, d, kind);
  }
  void release(unsigned slot, const decoded_instruction& d, cycle_t cycle, producer kind) override {
    counters.release(slot, d, cycle);
    if (checks()) check_->release(slot, d, cycle, kind);
  }
  [[nodiscard]] cycle_t settled(unsigned slot, const decoded_program&) const override { return counters.settled(slot); }
  void clear(unsigned slot, const decoded_program& p) override {
    counters.clear(slot);
    if (checks()) check_->clear(slot, p);
  }
  void issued(unsigned slot, const decoded_instruction& d, cycle_t cycle) override { counters.issued(slot, d, cycle); }
  void set_read(unsigned slot, const decoded_instruction& d, cycle_t cycle, producer kind) override {
    counters.set_read(slot, d, cycle, kind);
  }
  void redirected(unsigned slot) override { counters.jump(slot); }
  /// Stall counts are fixed in the program's code. They hold only up to the latency that they were made for.
  [[nodiscard]] bool allows_longer(const decoded_instruction& d) const override { return d.counter != no_counter; }
  void sample(unsigned slot, const decoded_program&, unsigned, cycle_t cycle) const override {
    counters.sample(slot, cycle);
  }
  void prefetch(unsigned slot) const override { counters.prefetch(slot); }
  [[nodiscard]] bool checks() const { return check_ != nullptr; }
  /// An instruction issues in `cycle`.
  void check(unsigned slot, const decoded_instruction& d, cycle_t cycle) const {
    invariant(check_->probe(slot, d).cycle <= cycle,
              "control codes let an instruction issue before its operands were ready");
  }

 private:
  scoreboard_scheme* const check_;
};

}  // namespace heddle

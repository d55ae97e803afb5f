// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/dependence/control_code_scheme.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/dependence/scoreboard_scheme.h"

namespace heddle {

/// The dependence schemes of a sub-partition: each warp's program has control codes or not.
class dependence {
 public:
  dependence(unsigned slots, bool checks_codes)
      : by_scoreboard_(slots), by_codes_(slots, checks_codes ? &by_scoreboard_ : nullptr) {}
  dependence(const dependence&) = delete;
  dependence& operator=(const dependence&) = delete;

  [[nodiscard]] class scoreboard& scoreboard() { return by_scoreboard_.board; }
  [[nodiscard]] const class scoreboard& scoreboard() const { return by_scoreboard_.board; }
  [[nodiscard]] dependence_counters& counters() { return by_codes_.counters; }
  [[nodiscard]] const dependence_counters& counters() const { return by_codes_.counters; }

  [[nodiscard]] scoreboard::answer probe(unsigned slot, const decoded_program& p, const decoded_instruction& d) const {
    return p.control_codes ? by_codes_.probe(slot, d) : by_scoreboard_.probe(slot, d);
  }
  void set_ready(unsigned slot, const decoded_program& p, const decoded_instruction& d, cycle_t cycle) {
    with(p, [&](auto& scheme) { scheme.set_ready(slot, d, cycle); });
  }
  void set_pending(unsigned slot, const decoded_program& p, const decoded_instruction& d, producer kind) {
    with(p, [&](auto& scheme) { scheme.set_pending(slot, d, kind); });
  }
  void release(unsigned slot, const decoded_program& p, const decoded_instruction& d, cycle_t cycle, producer kind) {
    with(p, [&](auto& scheme) { scheme.release(slot, d, cycle, kind); });
  }
  [[nodiscard]] cycle_t settled(unsigned slot, const decoded_program& p) const {
    return p.control_codes ? by_codes_.settled(slot, p) : by_scoreboard_.settled(slot, p);
  }
  void clear(unsigned slot, const decoded_program& p) {
    with(p, [&](auto& scheme) { scheme.clear(slot, p); });
  }
  [[nodiscard]] bool checks_codes() const { return by_codes_.checks(); }
  /// An instruction of a program with control codes issues in `cycle`.
  void check_codes(unsigned slot, const decoded_instruction& d, cycle_t cycle) const {
    by_codes_.check(slot, d, cycle);
  }

 private:
  template <class Action>
  void with(const decoded_program& p, Action&& action) {
    if (p.control_codes) action(by_codes_);
    else action(by_scoreboard_);
  }

  scoreboard_scheme by_scoreboard_;
  control_code_scheme by_codes_;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/dependence/control_code_scheme.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/dependence/scoreboard_scheme.h"

namespace heddle {

/// The dependence schemes of a sub-partition: each warp's program has control codes or not. Only here it matters which.
class dependence {
  template <class Self, class Action>
  static auto with(Self& self, const decoded_program& p, Action&& action) {
    return p.control_codes ? action(self.by_codes_) : action(self.by_scoreboard_);
  }

 public:
  /// `owner`: the sub-partition.
  dependence(sc_core::sc_module& owner, unsigned slots, bool checks_codes)
      : by_scoreboard_(owner, slots), by_codes_(owner, slots, checks_codes ? &by_scoreboard_ : nullptr) {}
  dependence(const dependence&) = delete;
  dependence& operator=(const dependence&) = delete;

  // dependence_scheme.h, of the scheme of program `p`
  [[nodiscard]] scoreboard::answer probe(unsigned slot, const decoded_program& p, const decoded_instruction& d) const {
    return with(*this, p, [&](const auto& scheme) { return scheme.probe(slot, d); });
  }
  void set_ready(unsigned slot, const decoded_program& p, const decoded_instruction& d, cycle_t cycle) {
    with(*this, p, [&](auto& scheme) { scheme.set_ready(slot, d, cycle); });
  }
  void set_pending(unsigned slot, const decoded_program& p, const decoded_instruction& d, producer kind) {
    with(*this, p, [&](auto& scheme) { scheme.set_pending(slot, d, kind); });
  }
  void release(unsigned slot, const decoded_program& p, const decoded_instruction& d, cycle_t cycle, producer kind) {
    with(*this, p, [&](auto& scheme) { scheme.release(slot, d, cycle, kind); });
  }
  [[nodiscard]] cycle_t settled(unsigned slot, const decoded_program& p) const {
    return with(*this, p, [&](const auto& scheme) { return scheme.settled(slot, p); });
  }
  void clear(unsigned slot, const decoded_program& p) {
    codes_began_last_ = p.control_codes;
    with(*this, p, [&](auto& scheme) { scheme.clear(slot, p); });
  }
  void issued(unsigned slot, const decoded_program& p, const decoded_instruction& d, cycle_t cycle) {
    with(*this, p, [&](auto& scheme) { scheme.issued(slot, d, cycle); });
  }
  void set_read(unsigned slot, const decoded_program& p, const decoded_instruction& d, cycle_t cycle, producer kind) {
    with(*this, p, [&](auto& scheme) { scheme.set_read(slot, d, cycle, kind); });
  }
  void redirected(unsigned slot, const decoded_program& p) {
    with(*this, p, [&](auto& scheme) { scheme.redirected(slot); });
  }
  [[nodiscard]] bool allows_longer(const decoded_program& p, const decoded_instruction& d) const {
    return with(*this, p, [&](const auto& scheme) { return scheme.allows_longer(d); });
  }
  void sample(unsigned slot, const decoded_program& p, unsigned registers, cycle_t cycle) const {
    with(*this, p, [&](const auto& scheme) { scheme.sample(slot, p, registers, cycle); });
  }
  /// Whether an issue is compared with a scoreboard beside the control codes.
  [[nodiscard]] bool checks(const decoded_program& p) const {
    return __builtin_expect(by_codes_.checks(), 0) && p.control_codes;
  }
  void check(unsigned slot, const decoded_instruction& d, cycle_t cycle) const { by_codes_.check(slot, d, cycle); }

  void exchange(state_image& image) {
    by_scoreboard_.board.exchange(image);
    image(codes_began_last_);
  }
  /// Of a slot whose warp executes program `p`.
  void exchange(unsigned slot, const decoded_program& p, state_image& image) {
    if (p.control_codes) by_codes_.counters.exchange(slot, image);
    if (!p.control_codes || by_codes_.checks()) by_scoreboard_.board.exchange(slot, p.scoreboard_registers, image);
  }
  /// What is pending is sampled for `observer`.
  void observe(const trace_observer* observer) {
    by_scoreboard_.board.observe(observer);
    by_codes_.counters.observe(observer);
  }
  [[nodiscard]] const scoreboard& board() const { return by_scoreboard_.board; }
  [[nodiscard]] const dependence_counters& counters() const { return by_codes_.counters; }
  /// Prefetches what all slots share,
  void prefetch() const { by_scoreboard_.board.prefetch(); }
  /// and the slot's state. That its program is of the same scheme as the one that began last is assumed.
  void prefetch(unsigned slot) const { codes_began_last_ ? by_codes_.prefetch(slot) : by_scoreboard_.prefetch(slot); }

 private:
  scoreboard_scheme by_scoreboard_;
  control_code_scheme by_codes_;
  bool codes_began_last_ = false;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <systemc>

namespace heddle {

/// The clock of a unit that works at any time rather than at the edges of a clock: what clock_port is to a clocked
/// unit. Its event wakes the unit's process.
class event_clock {
 public:
  using time = sc_core::sc_time;
  /// `wake` must outlive the clock.
  explicit event_clock(sc_core::sc_event& wake) : wake_(&wake) {}

  /// When a unit acts on what arrives after `delay`.
  [[nodiscard]] time arrival(const sc_core::sc_time& delay) const { return sc_core::sc_time_stamp() + delay; }
  /// Notifies the event at `at`, in the next delta cycle if that is not in the future. An earlier notification stays.
  void wake_at(const time& at) const {
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    wake_->notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
  }

 private:
  sc_core::sc_event* wake_;
};

}  // namespace heddle

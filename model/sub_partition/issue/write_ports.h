// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// The register file's write ports: each bank takes a limited number of results a cycle. Results of fixed latency
/// reserve their cycle at issue; conflicts among them go to a result queue and are forwarded from there, so no
/// instruction waits. Results of loads wait for a free cycle. Source: Huerta et al., MICRO 2025, section 5.3.
class write_ports {
 public:
  static constexpr unsigned most = most_write_ports;
  /// `per_bank`: results a bank takes per cycle; 0: any number. banks x per_bank is at most `most`.
  write_ports(unsigned banks, unsigned per_bank)
      : banks_(banks), mask_((banks & (banks - 1)) == 0 ? banks - 1 : ~0u), per_bank_(per_bank) {}

  [[nodiscard]] bool limited() const { return per_bank_ != 0; }

  /// An instruction issued in `now` writes `count` registers starting at `first` in `cycle`.
  void reserve(unsigned first, unsigned count, cycle_t cycle, cycle_t now) {
    advance(now);
    for (unsigned k = 0; k < count; ++k) static_cast<void>(take(bank_of(first + k), cycle));
  }

  /// Writes a load's `count` registers starting at `first`. Their data arrive from `begin` to `cycle`, `together`
  /// registers at a time, every `interval` cycles. Returns the cycle in which the last register is written. `now`:
  /// cycle in which the load completes, not after `cycle`.
  cycle_t write(unsigned first, unsigned count, cycle_t cycle, cycle_t now, unsigned together = 1,
                unsigned interval = 0, cycle_t begin = 0) {
    const cycle_t span = interval == 0 || count == 0 ? 0 : (count - 1) / together * interval;
    const cycle_t start = std::max(begin, cycle - std::min(cycle, span));
    if (!limited()) return start + span;
    // After a long time without reservations the window is moved, so that entries of later_ stay the exception.
    const cycle_t earliest = std::min(start, now);
    if (earliest >= base_ + window) advance(earliest);
    cycle_t last = cycle;
    cycle_t come = start;
    for (unsigned k = 0, arrived = 0; k < count; ++k, ++arrived) {
      if (arrived == together) {
        come += interval;
        arrived = 0;
      }
      cycle_t at = std::max(come, base_);
      while (!take(bank_of(first + k), at)) ++at;
      last = std::max(last, at);
    }
    return last;
  }

  void exchange(state_image& image) { image(base_, taken_, later_); }

 private:
  [[nodiscard]] unsigned bank_of(unsigned r) const { return mask_ != ~0u ? r & mask_ : r % banks_; }
  static constexpr cycle_t window = 64;  // bits of a word; few latencies are longer

  void advance(cycle_t now) {
    if (now <= base_) return;
    const cycle_t passed = now - base_;
    for (unsigned k = 0; k < banks_ * per_bank_; ++k) taken_[k] = passed < window ? taken_[k] >> passed : 0;
    base_ = now;
    if (__builtin_expect(!later_.empty(), 0)) move_to_window();
  }
  bool take(unsigned bank, cycle_t cycle) {
    const cycle_t distance = cycle - base_;
    if (__builtin_expect(distance >= window, 0)) return take_later(bank, cycle);
    const std::uint64_t bit = std::uint64_t{1} << distance;
    for (unsigned p = 0; p < per_bank_; ++p) {
      std::uint64_t& t = taken_[bank * per_bank_ + p];
      if ((t & bit) != 0) continue;
      t |= bit;
      return true;
    }
    return false;
  }
  bool take_later(unsigned bank, cycle_t cycle) {
    unsigned& results = later_[{cycle, bank}];
    if (results == per_bank_) return false;
    ++results;
    return true;
  }
  // Moves reservations that are now within the window.
  void move_to_window() {
    while (!later_.empty() && later_.begin()->first.first < base_ + window) {
      const auto [place, results] = *later_.begin();
      later_.erase(later_.begin());
      for (unsigned k = 0; place.first >= base_ && k < results; ++k) static_cast<void>(take(place.second, place.first));
    }
  }

  unsigned banks_;
  unsigned mask_;  // for a power of two; otherwise all ones
  unsigned per_bank_;
  cycle_t base_ = 0;
  std::array<std::uint64_t, most> taken_{};                 // per port: the reserved cycles from base_ on
  std::map<std::pair<cycle_t, unsigned>, unsigned> later_;  // reservations after the window: results by cycle and bank
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tlm/clock_domain.h"

namespace heddle {

/// The register file's write ports: each bank takes so many results a cycle. Results of fixed latency have their cycle reserved when
/// they issue (clashes among them go into a result queue and are forwarded from there, so nobody waits); those of loads wait for a
/// cycle that is free. Source: Huerta et al., MICRO 2025, section 5.3.
class write_ports {
 public:
  static constexpr unsigned most = 16;   // ports of all banks
  /// `per_bank` 0: any number of results a cycle. banks x per_bank is at most `most`.
  write_ports(unsigned banks, unsigned per_bank)
      : banks_(banks), mask_((banks & (banks - 1)) == 0 ? banks - 1 : ~0u), per_bank_(per_bank) {}

  bool limited() const { return per_bank_ != 0; }

  /// An instruction that issues in `now` writes `count` registers from `first` on in `cycle`.
  void reserve(unsigned first, unsigned count, cycle_t cycle, cycle_t now) {
    advance(now);
    if (cycle - base_ >= window) return;
    for (unsigned k = 0; k < count; ++k) static_cast<void>(take(bank_of(first + k), cycle - base_));
  }

  /// A load's `count` registers from `first` on: all of their data are there in `cycle`, the first of them in `begin`, and they come
  /// `together` of them at a time, every `interval` cycles. Returns the cycle in which the last of them is written.
  cycle_t write(unsigned first, unsigned count, cycle_t cycle, unsigned together = 1, unsigned interval = 0, cycle_t begin = 0) {
    const cycle_t way = count == 0 ? 0 : (count - 1) / together * interval;
    const cycle_t start = std::max(begin, cycle - std::min(cycle, way));
    if (!limited()) return start + way;
    cycle_t last = cycle;
    for (unsigned k = 0; k < count; ++k) {
      const cycle_t come = start + k / together * interval;
      cycle_t at = std::max(come, base_);
      while (at - base_ < window && !take(bank_of(first + k), at - base_)) ++at;
      last = std::max(last, at);
    }
    return last;
  }

 private:
  unsigned bank_of(unsigned r) const { return mask_ != ~0u ? r & mask_ : r % banks_; }
  static constexpr cycle_t window = 64;   // no fixed latency that matters is longer

  void advance(cycle_t now) {
    if (now <= base_) return;
    const cycle_t passed = now - base_;
    for (unsigned k = 0; k < banks_ * per_bank_; ++k) taken_[k] = passed < window ? taken_[k] >> passed : 0;
    base_ = now;
  }
  bool take(unsigned bank, cycle_t ahead) {
    const std::uint64_t bit = std::uint64_t{1} << ahead;
    for (unsigned p = 0; p < per_bank_; ++p) {
      std::uint64_t& t = taken_[bank * per_bank_ + p];
      if ((t & bit) != 0) continue;
      t |= bit;
      return true;
    }
    return false;
  }

  unsigned banks_;
  unsigned mask_;   // of a power of two; else all ones
  unsigned per_bank_;
  cycle_t base_ = 0;
  std::array<std::uint64_t, most> taken_{};   // of each port, the cycles from base_ on
};

}  // namespace heddle

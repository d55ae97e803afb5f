// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// A timing wheel: which units are to be called in which cycle. The next 256 cycles have a bucket each, with a bit per
/// unit; wakes beyond them are in a heap.
class wake_wheel {
 public:
  static constexpr unsigned buckets = 256;

  /// Makes room for `units` units.
  void resize(std::size_t units);
  /// Marks unit `index` in `cycle`; `base` is the cycle that the wheel stands at, at most `cycle`.
  void set(cycle_t cycle, unsigned index, cycle_t base) {
    if (__builtin_expect(cycle - base < buckets, 1)) set_bit(cycle, index);
    else set_far(cycle, index);
  }
  /// The first cycle from `base` on in which a unit is marked; never: there is none.
  [[nodiscard]] cycle_t next(cycle_t base) const {
    const unsigned start = base % buckets;
    const std::uint64_t bits = occupied_[start / 64] >> (start % 64);
    const cycle_t near = bits != 0 ? base + static_cast<unsigned>(__builtin_ctzll(bits)) : beyond_word(base);
    return near < far_next_ ? near : far_next_;
  }
  /// Moves the wheel to `cycle`: wakes of the heap that are near now get their bits. False: no unit is marked in it.
  bool advance(cycle_t cycle) {
    if (__builtin_expect(far_next_ - cycle < buckets, 0)) fetch_far(cycle);
    const unsigned b = cycle % buckets;
    return (occupied_[b / 64] >> (b % 64) & 1) != 0;
  }
  void exchange(state_image& image);
  /// Removes all marks.
  void empty();
  /// 64-bit words of a bucket.
  [[nodiscard]] unsigned words() const { return words_; }
  /// Word `word` of a cycle's bucket.
  std::uint64_t& bits(cycle_t cycle, unsigned word) { return wheel_[cycle % buckets * words_ + word]; }
  /// The cycle's bucket has been emptied.
  void clear(cycle_t cycle) {
    const unsigned b = cycle % buckets;
    occupied_[b / 64] &= ~(std::uint64_t{1} << (b % 64));
  }

 private:
  void set_far(cycle_t cycle, unsigned index);
  void fetch_far(cycle_t cycle);
  [[nodiscard]] cycle_t beyond_word(cycle_t base) const;
  void set_bit(cycle_t cycle, unsigned index) {
    const unsigned b = cycle % buckets;
    wheel_[b * words_ + index / 64] |= std::uint64_t{1} << (index % 64);
    occupied_[b / 64] |= std::uint64_t{1} << (b % 64);
  }

  struct far_wake {
    cycle_t cycle;
    unsigned index;
    void exchange(state_image& image) { image(cycle, index); }
    bool operator>(const far_wake& o) const { return cycle != o.cycle ? cycle > o.cycle : index > o.index; }
  };

  unsigned words_ = 0;
  std::vector<std::uint64_t> wheel_;           // buckets x words_
  std::uint64_t occupied_[buckets / 64] = {};  // buckets with at least one bit
  cycle_t far_next_ = never;                   // the first cycle in the heap
  std::priority_queue<far_wake, std::vector<far_wake>, std::greater<far_wake>> far_;
};

}  // namespace heddle

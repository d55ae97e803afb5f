// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/wake_wheel.h"

#include <algorithm>
#include <iterator>

namespace heddle {

void wake_wheel::resize(std::size_t units) {
  const unsigned needed = static_cast<unsigned>((units + 63) / 64);
  if (needed == words_) return;
  std::vector<std::uint64_t> wheel(std::size_t{buckets} * needed, 0);
  for (unsigned b = 0; b < buckets; ++b)
    for (unsigned w = 0; w < words_; ++w) wheel[b * needed + w] = wheel_[b * words_ + w];
  wheel_.swap(wheel);
  words_ = needed;
}

void wake_wheel::set_far(cycle_t cycle, unsigned index) {
  far_.push({cycle, index});
  far_next_ = far_.top().cycle;
}

void wake_wheel::empty() {
  std::fill(wheel_.begin(), wheel_.end(), 0);
  std::fill(std::begin(occupied_), std::end(occupied_), 0);
  far_ = {};
  far_next_ = never;
}

void wake_wheel::exchange(state_image& image) {
  image.same(words_, "words of the units' wakes");
  image(wheel_, occupied_, far_next_, far_);
}

void wake_wheel::fetch_far(cycle_t cycle) {
  while (!far_.empty() && far_.top().cycle - cycle < buckets) {
    set_bit(far_.top().cycle, far_.top().index);
    far_.pop();
  }
  far_next_ = far_.empty() ? never : far_.top().cycle;
}

// The first occupied bucket beyond those that share a word with the one of `base` and do not come before it: a circular
// search.
cycle_t wake_wheel::beyond_word(cycle_t base) const {
  constexpr unsigned words = buckets / 64;
  const unsigned start = base % buckets;
  for (unsigned i = 1; i <= words; ++i) {
    const unsigned word = (start / 64 + i) % words;
    std::uint64_t bits = occupied_[word];
    if (i == words) bits &= (std::uint64_t{1} << (start % 64)) - 1;
    if (bits == 0) continue;
    const unsigned b = word * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
    return base + (b + buckets - start) % buckets;
  }
  return never;
}

}  // namespace heddle

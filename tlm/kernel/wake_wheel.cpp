// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/wake_wheel.h"

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

cycle_t wake_wheel::next(cycle_t base) const {
  const cycle_t best = far_.empty() ? never : far_.top().cycle;
  const unsigned start = base % buckets;
  // A circular search for the first occupied bucket at or after the current one.
  for (unsigned i = 0; i <= buckets / 64; ++i) {
    const unsigned word = (start / 64 + i) % (buckets / 64);
    std::uint64_t bits = occupied_[word];
    if (i == 0) bits &= ~std::uint64_t{0} << (start % 64);
    if (i == buckets / 64) bits &= (std::uint64_t{1} << (start % 64)) - 1;
    if (bits == 0) continue;
    const unsigned b = word * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
    const cycle_t c = base + (b + buckets - start) % buckets;
    return c < best ? c : best;
  }
  return best;
}

bool wake_wheel::advance(cycle_t cycle) {
  while (!far_.empty() && far_.top().cycle - cycle < buckets) {
    set_bit(far_.top().cycle, far_.top().index);
    far_.pop();
  }
  const unsigned b = cycle % buckets;
  return (occupied_[b / 64] >> (b % 64) & 1) != 0;
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/unit_clock.h"

#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

unit_clock::unit_clock(const sc_core::sc_module_name& name, const clock_timing& timing, unit_clock* root)
    : sc_module(name), timing_(timing), root_(root != nullptr ? root : this) {}

unsigned unit_clock::attach(clocked& unit) {
  units_.push_back(&unit);
  wheel_.resize(units_.size());
  return static_cast<unsigned>(units_.size() - 1);
}

void unit_clock::wake_all(cycle_t cycle) {
  wheel_.empty();
  for (unsigned i = 0; i < units_.size(); ++i) wheel_.set(cycle, i, cycle_);
}

void unit_clock::exchange(state_image& image) {
  image.part(name());
  image(wheel_, cycle_, began_, halted_);
  if (!image.reading()) return;
  window_end_ = unanswered_until_ = 0;
  other_ = cycle_cache();
}

// Hints at one more of the units that are to be called in this cycle, and again at those hinted before. Units that join
// the cycle only now are not hinted, which costs time and nothing else.
void unit_clock::prefetch_next() {
  const clocked* next = nullptr;
  while (announced_ < std::size_t{wheel_.words()} * 64) {
    const std::uint64_t rest = wheel_.bits(cycle_, static_cast<unsigned>(announced_ / 64)) >> (announced_ % 64);
    if (rest == 0) {
      announced_ = (announced_ / 64 + 1) * 64;
      continue;
    }
    announced_ += static_cast<unsigned>(__builtin_ctzll(rest));
    next = units_[announced_++];
    break;
  }
  host_prefetch(next, 1);
  newest_hint_ = (newest_hint_ + 1) % hint_distance;
  // A ring by age: the newest takes the place of the oldest.
  hinted_[newest_hint_] = next;
  const clocked* const second = hinted_[(newest_hint_ + hint_distance - 1) % hint_distance];
  const clocked* const third = hinted_[(newest_hint_ + hint_distance - 2) % hint_distance];
  if (second != nullptr) second->prefetch_hint(cycle_, true);
  if (third != nullptr) third->prefetch_hint(cycle_, false);
}

bool unit_clock::call_units(bool distant) {
  if (!wheel_.advance(cycle_)) return false;
  if (distant) {
    announced_ = 0;
    hinted_.fill(nullptr);
    for (unsigned i = 0; i < hint_distance; ++i) prefetch_next();
  }
  for (unsigned w = 0; w < wheel_.words() && !halted_; ++w) {
    std::uint64_t& bits = wheel_.bits(cycle_, w);
    while (bits && !halted_) {
      current_ = w * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
      bits &= bits - 1;
      ++calls_;
      if (distant) prefetch_next();
      units_[current_]->on_cycle(cycle_);
    }
  }
  wheel_.clear(cycle_);
  return true;
}

}  // namespace heddle

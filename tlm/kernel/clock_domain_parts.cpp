// SPDX-License-Identifier: MIT
// Parts of a clock domain, which may be simulated ahead of it: many cycles of one part after another find the host's
// caches filled with what that part needs. Conservative: a part goes only as far as nothing can reach it any more, so
// that no result depends on it.
#include <algorithm>

#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

clock_domain::clock_domain(sc_core::sc_module_name name, clock_domain& whole)
    : sc_module(name),
      hertz_(whole.hertz_),
      resolution_per_second_(whole.resolution_per_second_),
      whole_(&whole),
      part_(static_cast<unsigned>(whole.parts_.size())) {
  if (whole.whole_ != nullptr) SC_REPORT_ERROR("/heddle/clock", "a part of a clock domain has no parts");
  set_ratio();
  whole.parts_.push_back(this);
  whole.part_wake_.push_back(never);
}

void clock_domain::wake_part_at(unsigned index, cycle_t cycle) {
  const cycle_t now = whole_->cycle();
  if (cycle <= now && (whole_->began_ || now > 0)) cycle = now + 1;
  if (began_ && cycle <= cycle_)
    SC_REPORT_ERROR("/heddle/internal",
                    "what arrives at a part of a clock domain comes too late: it has been simulated further");
  if (cycle - cycle_ >= buckets) far_.push({cycle, index});
  else set_bit(cycle, index);
  whole_->part_wakes(part_, cycle);
}

void clock_domain::part_wakes(unsigned part, cycle_t cycle) {
  part_wake_[part] = std::min(part_wake_[part], cycle);
  notify_at(cycle);
}

cycle_t clock_domain::next_wake() const {
  cycle_t best = own_next_wake();
  for (const cycle_t c : part_wake_) best = std::min(best, c);
  return best;
}

cycle_t clock_domain::first_look() const {
  cycle_t first = never;
  for (const cycle_observer* o : observers_) first = std::min(first, o->next_sample());
  return first;
}

// Simulates the parts that have something to do now, each as far as it may go. False: there is none, and none was ahead
// until now.
bool clock_domain::run_parts() {
  bool busy = cycle_ == furthest_ && cycle_ != 0;
  current_ = ~0u;  // none of the units could still join this cycle
  const cycle_t sampled_at = lookahead_ != nullptr && !external_ ? first_look() : 0;
  for (std::size_t i = 0; i < parts_.size() && !halted_; ++i) {
    if (part_wake_[i] > cycle_) continue;
    busy = true;
    cycle_t horizon = cycle_;
    if (sampled_at > cycle_ + 1)
      horizon = std::max(horizon, std::min(lookahead_->horizon(static_cast<unsigned>(i), cycle_), sampled_at - 1));
    parts_[i]->run_until(cycle_, horizon);
    part_wake_[i] = parts_[i]->own_next_wake();
    furthest_ = std::max(furthest_, parts_[i]->cycle_);
  }
  return busy;
}

void clock_domain::run_until(cycle_t present, cycle_t horizon) {
  horizon_ = horizon;
  reach_ = present;
  running_ = true;
  while (!halted_) {
    const cycle_t next = own_next_wake();
    if (next > horizon_) break;
    if (next > reach_ && (reach_ = whole_->lookahead_->reach(part_, next)) < next) break;
    cycle_ = next;
    began_ = true;
    call_units(next == present);
  }
  running_ = false;
  horizon_ = 0;
}

std::uint64_t clock_domain::calls() const {
  std::uint64_t n = calls_;
  for (const clock_domain* part : parts_) n += part->calls_;
  return n;
}

}  // namespace heddle

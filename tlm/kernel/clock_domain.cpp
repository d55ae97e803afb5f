// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/clock_domain.h"

#include <algorithm>

#include "heddle/tlm/kernel/prefetch.h"

#include <cmath>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <string>

namespace heddle {

namespace {
using wide = unsigned __int128;

std::uint64_t resolutions_per_second() {
  return static_cast<std::uint64_t>(std::llround(1.0 / sc_core::sc_get_time_resolution().to_seconds()));
}
}  // namespace

clock_domain::clock_domain(sc_core::sc_module_name name, double frequency_mhz)
    : sc_module(name),
      hertz_(static_cast<std::uint64_t>(std::llround(frequency_mhz * 1e6))),
      resolution_per_second_(resolutions_per_second()) {
  if (hertz_ == 0) SC_REPORT_ERROR("/heddle/clock", "a clock needs a frequency above zero");
  if (hertz_ > resolution_per_second_)
    SC_REPORT_ERROR(
        "/heddle/clock",
        ("a cycle of " + std::to_string(frequency_mhz) + " MHz is shorter than the time resolution of " +
         sc_core::sc_get_time_resolution().to_string() + ": call sc_set_time_resolution before building the GPU")
            .c_str());
  set_ratio();
}

void clock_domain::set_ratio() {
  const std::uint64_t common = std::gcd(resolution_per_second_, hertz_);
  ticks_ = resolution_per_second_ / common;
  per_ticks_ = hertz_ / common;
  short_cycles_ = (~std::uint64_t{0} - per_ticks_) / ticks_;
  short_time_ = ~std::uint64_t{0} / per_ticks_;
}

// Rounded to the nearest unit of the resolution.
std::uint64_t clock_domain::ticks_at(cycle_t cycle) const {
  if (cycle <= short_cycles_) return (cycle * ticks_ + per_ticks_ / 2) / per_ticks_;
  return static_cast<std::uint64_t>((static_cast<wide>(cycle) * ticks_ + per_ticks_ / 2) / per_ticks_);
}

unsigned clock_domain::attach(clocked& unit) {
  units_.push_back(&unit);
  const unsigned needed = static_cast<unsigned>((units_.size() + 63) / 64);
  if (needed != words_) {
    std::vector<std::uint64_t> wheel(std::size_t{buckets} * needed, 0);
    for (unsigned b = 0; b < buckets; ++b)
      for (unsigned w = 0; w < words_; ++w) wheel[b * needed + w] = wheel_[b * words_ + w];
    wheel_.swap(wheel);
    words_ = needed;
  }
  return static_cast<unsigned>(units_.size() - 1);
}

void clock_domain::wake_from_outside(unsigned index, cycle_t cycle) {
  if (whole_ != nullptr) return wake_part_at(index, cycle);
  const cycle_t now = this->cycle();
  if (cycle <= now && (began_ || now > 0)) cycle = now + 1;
  // Self-timed and idle, cycle_ may lie far behind the present: distance is measured from where the wheel stands.
  if (cycle - cycle_ >= buckets) far_.push({cycle, index});
  else set_bit(cycle, index);
  notify_at(cycle);
}

void clock_domain::notify_at(cycle_t cycle) {
  if (running_ || external_ || cycle >= scheduled_) return;
  scheduled_ = cycle;
  due_.notify(delay_until(cycle));
}

cycle_t clock_domain::cycle_at(std::uint64_t time, known_time& known) const {
  if (time == known.time) return known.cycle;
  cycle_t k = time <= short_time_ ? time * per_ticks_ / ticks_
                                  : static_cast<cycle_t>(static_cast<wide>(time) * per_ticks_ / ticks_);
  // Edges are rounded.
  while (ticks_at(k + 1) <= time) ++k;
  while (k > 0 && ticks_at(k) > time) --k;
  known = {time, k};
  return k;
}

cycle_t clock_domain::cycle_of(const sc_core::sc_time& t) const { return cycle_at(t.value(), other_); }

cycle_t clock_domain::present_cycle() const {
  if (whole_ != nullptr) return whole_->cycle();
  return external_ ? cycle_ + edge_is_due() : cycle_at(sc_core::sc_time_stamp().value(), present_);
}

// Whether the outside clock's edge is in this delta cycle and its process has not run yet: for whoever asks it has
// come, so that nothing depends on the order in which the kernel runs processes.
bool clock_domain::edge_is_due() const {
  return !running_ && edge_->triggered() && (cycle_ == 0 || edge_at_ != sc_core::sc_time_stamp().value());
}

// Time since the outside clock's last edge. More than a period: the clock stands still, and its next edge may come at
// once.
std::uint64_t clock_domain::since_edge() const {
  if (running_ || edge_is_due()) return 0;
  const std::uint64_t elapsed = sc_core::sc_time_stamp().value() - edge_at_;
  return elapsed <= period_ ? elapsed : 0;
}

cycle_t clock_domain::later_arrival(const sc_core::sc_time& delay) const {
  if (whole_ != nullptr) return whole_->arrival(delay);
  if (!external_)
    return (delay == sc_core::SC_ZERO_TIME ? cycle()
                                           : cycle_at(sc_core::sc_time_stamp().value() + delay.value(), other_)) +
           1;
  return cycle() + 1 + (since_edge() + delay.value()) / period_;
}

sc_core::sc_time clock_domain::time_of(cycle_t cycle) const { return sc_core::sc_time::from_value(ticks_at(cycle)); }

sc_core::sc_time clock_domain::delay_until(cycle_t cycle) const {
  if (whole_ != nullptr) return whole_->delay_until(cycle);
  if (external_) {
    const cycle_t present = this->cycle();
    return cycle > present ? sc_core::sc_time::from_value((cycle - present) * period_ - since_edge())
                           : sc_core::SC_ZERO_TIME;
  }
  const std::uint64_t ticks = ticks_at(cycle);
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  return ticks > now ? sc_core::sc_time::from_value(ticks - now) : sc_core::SC_ZERO_TIME;
}

void clock_domain::follow(const sc_core::sc_event& rising_edge, const sc_core::sc_time& period) {
  external_ = true;
  edge_ = &rising_edge;
  period_known_ = period != sc_core::SC_ZERO_TIME;
  period_ = period_known_ ? period.value() : time_of(1).value();
}

std::uint64_t clock_domain::nanoseconds_at(cycle_t cycle) const {
  if (whole_ != nullptr) return whole_->nanoseconds_at(cycle);
  if (!external_) return static_cast<std::uint64_t>(static_cast<double>(cycle) * 1e3 / frequency_mhz());
  return static_cast<std::uint64_t>(static_cast<wide>(edge_at_) * 1000000000 / resolution_per_second_);
}

cycle_t clock_domain::cycles_in(std::uint64_t nanoseconds) const {
  if (whole_ != nullptr) return whole_->cycles_in(nanoseconds);
  if (!external_) return static_cast<cycle_t>(static_cast<double>(nanoseconds) * 1e-3 * frequency_mhz());
  return static_cast<cycle_t>(static_cast<wide>(nanoseconds) * resolution_per_second_ / 1000000000 / period_);
}

void clock_domain::end_of_elaboration() {
  if (whole_ != nullptr) return;
  if (resolution_per_second_ != resolutions_per_second())
    SC_REPORT_ERROR("/heddle/clock",
                    "the time resolution was changed after the clock was built: set it before building the GPU");
  // Only here is it known what drives the process; sensitivity cannot be added to one after its module is constructed.
  SC_HAS_PROCESS(clock_domain);
  SC_METHOD(on_event);
  sensitive << (edge_ != nullptr ? *edge_ : due_);
  dont_initialize();
}

void clock_domain::start_of_simulation() {
  if (external_ || whole_ != nullptr) return;
  scheduled_ = next_wake();
  if (scheduled_ != never) due_.notify(delay_until(scheduled_));
}

cycle_t clock_domain::own_next_wake() const {
  cycle_t best = far_.empty() ? never : far_.top().cycle;
  const unsigned start = cycle_ % buckets;
  // Circular search for the first occupied bucket at or after the current one.
  for (unsigned i = 0; i <= buckets / 64; ++i) {
    const unsigned word = (start / 64 + i) % (buckets / 64);
    std::uint64_t bits = occupied_[word];
    if (i == 0) bits &= ~std::uint64_t{0} << (start % 64);
    if (i == buckets / 64) bits &= (std::uint64_t{1} << (start % 64)) - 1;
    if (bits == 0) continue;
    const unsigned b = word * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
    const cycle_t c = cycle_ + (b + buckets - start) % buckets;
    return c < best ? c : best;
  }
  return best;
}

void clock_domain::on_event() {
  if (halted_) return;
  const std::uint64_t busy_before = busy_cycles_;
  try {
    if (external_) {
      const std::uint64_t now = sc_core::sc_time_stamp().value();
      if (!period_known_ && cycle_ != 0 && now != edge_at_) period_ = now - edge_at_;
      edge_at_ = now;
      ++cycle_;
      run_cycle();
      if (busy_cycles_ != busy_before && on_quiet && !halted_ && quiet()) on_quiet();
    } else {
      cycle_ = scheduled_;
      run_cycle();
      schedule_next();
      if (busy_cycles_ != busy_before && on_quiet && !halted_ && quiet()) on_quiet();
    }
  } catch (const sc_core::sc_report&) {
    throw;
  } catch (const std::exception& e) {
    halted_ = true;
    running_ = false;
    for (clock_domain* part : parts_) part->running_ = false;
    const bool from_outside = dynamic_cast<const std::runtime_error*>(&e) != nullptr;
    SC_REPORT_ERROR(from_outside ? "/heddle/input" : "/heddle/internal", e.what());
  }
}

void clock_domain::schedule_next() {
  scheduled_ = std::min(next_wake(), look_);
  // Parts were ahead and have nothing to do any more: the domain is quiet when it has come to where they are.
  if (scheduled_ == never && furthest_ > cycle_) scheduled_ = furthest_;
  if (scheduled_ != never && !halted_) due_.notify(delay_until(scheduled_));
}

// Announces one more of the units that are to be called in this cycle, and has the one announced two before look
// closer. Units that come to be called only now go unannounced, which costs time and nothing else.
void clock_domain::prefetch_next(unsigned bucket) {
  const clocked* next = nullptr;
  while (announced_ < std::size_t{words_} * 64) {
    const std::uint64_t rest = wheel_[bucket * words_ + announced_ / 64] >> (announced_ % 64);
    if (rest == 0) {
      announced_ = (announced_ / 64 + 1) * 64;
      continue;
    }
    announced_ += static_cast<unsigned>(__builtin_ctzll(rest));
    next = units_[announced_++];
    break;
  }
  host_prefetch(next, 1);
  coming_at_ = (coming_at_ + 1) % ahead;
  // Slots of the ring by age: the oldest one is replaced by the newest.
  coming_[coming_at_] = next;
  const clocked* const second = coming_[(coming_at_ + ahead - 1) % ahead];
  const clocked* const third = coming_[(coming_at_ + ahead - 2) % ahead];
  if (second != nullptr) second->prefetch_hint(cycle_, true);
  if (third != nullptr) third->prefetch_hint(cycle_, false);
}

void clock_domain::run_cycle() {
  began_ = true;
  running_ = true;
  bool busy = call_units(true);
  busy |= run_parts();
  running_ = false;
  busy_cycles_ += busy;
  if (busy || look_ <= cycle_) look();
}

// Calls those that have asked for cycle_, with the others announced if they may be far from the host's cache. False:
// nobody has.
bool clock_domain::call_units(bool far_off) {
  while (!far_.empty() && far_.top().cycle - cycle_ < buckets) {
    set_bit(far_.top().cycle, far_.top().index);
    far_.pop();
  }
  const unsigned b = cycle_ % buckets;
  if (!(occupied_[b / 64] >> (b % 64) & 1)) return false;
  if (far_off) {
    announced_ = 0;
    coming_.fill(nullptr);
    for (unsigned i = 0; i < ahead; ++i) prefetch_next(b);
  }
  for (unsigned w = 0; w < words_ && !halted_; ++w) {
    std::uint64_t& bits = wheel_[b * words_ + w];
    while (bits && !halted_) {
      current_ = w * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
      bits &= bits - 1;
      ++calls_;
      if (far_off) prefetch_next(b);
      units_[current_]->on_cycle(cycle_);
    }
  }
  occupied_[b / 64] &= ~(std::uint64_t{1} << (b % 64));
  return true;
}

void clock_domain::look() {
  look_ = never;
  for (cycle_observer* o : observers_) o->after_cycle();
}

void clock_domain::observe(cycle_observer& observer) {
  (whole_ != nullptr ? *whole_ : *this).observers_.push_back(&observer);
}

void clock_domain::ignore(const cycle_observer& observer) {
  auto& all = (whole_ != nullptr ? *whole_ : *this).observers_;
  all.erase(std::remove(all.begin(), all.end(), &observer), all.end());
}

void clock_domain::look_at(cycle_t cycle) {
  clock_domain& d = whole_ != nullptr ? *whole_ : *this;
  if (cycle < d.look_) d.look_ = cycle;
}

void clock_domain::halt() {
  halted_ = true;
  for (clock_domain* part : parts_) part->halted_ = true;
  if (!external_ && whole_ == nullptr) due_.cancel();
}

}  // namespace heddle

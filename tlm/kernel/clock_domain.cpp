// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/kernel/has_process.h"

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace heddle {

clock_domain::clock_domain(const sc_core::sc_module_name& name, double frequency_mhz)
    : unit_clock(name, clock_timing(frequency_mhz), nullptr) {}

cycle_t clock_domain::next_cycle() const {
  const cycle_t now = cycle();
  return began_ || now > 0 ? now + 1 : now;
}

void clock_domain::wake_from_outside(unsigned index, cycle_t cycle) {
  cycle = std::max(cycle, next_cycle());
  // Self-timed and idle, cycle_ may lie far behind the present: distance is measured from where the wheel stands.
  wheel_.set(cycle, index, cycle_);
  notify_at(cycle);
}

void clock_domain::wake_process(unsigned process, cycle_t cycle) {
  windows_.wake(process, cycle);
  notify_at(cycle);
}

void clock_domain::notify_at(cycle_t cycle) {
  if (running_ || external_ || cycle >= scheduled_) return;
  scheduled_ = cycle;
  due_.notify(delay_until(cycle));
}

cycle_t clock_domain::present_cycle() const {
  return external_ ? cycle_ + edge_is_due() : present_.cycle_at(timing_, sc_core::sc_time_stamp().value());
}

// Whether the external clock's edge is in this delta cycle and its process has not run yet. It counts as past, so that
// nothing depends on the order in which the SystemC kernel runs processes.
bool clock_domain::edge_is_due() const {
  return !running_ && edge_->triggered() && (cycle_ == 0 || edge_at_ != sc_core::sc_time_stamp().value());
}

// Time since the external clock's last edge. More than a period: the clock stands still, and its next edge may come at
// once.
std::uint64_t clock_domain::since_edge() const {
  if (running_ || edge_is_due()) return 0;
  const std::uint64_t elapsed = sc_core::sc_time_stamp().value() - edge_at_;
  return elapsed <= period_ ? elapsed : 0;
}

cycle_t clock_domain::later_arrival(const sc_core::sc_time& delay, cycle_cache& times) const {
  if (external_) return cycle() + 1 + (since_edge() + delay.value()) / period_;
  return (delay == sc_core::SC_ZERO_TIME ? cycle()
                                         : times.cycle_at(timing_, sc_core::sc_time_stamp().value() + delay.value())) +
         1;
}

sc_core::sc_time clock_domain::delay_until(cycle_t cycle) const {
  if (external_) {
    const cycle_t present = this->cycle();
    return cycle > present ? sc_core::sc_time::from_value((cycle - present) * period_ - since_edge())
                           : sc_core::SC_ZERO_TIME;
  }
  const std::uint64_t ticks = timing_.ticks_at(cycle);
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  return ticks > now ? sc_core::sc_time::from_value(ticks - now) : sc_core::SC_ZERO_TIME;
}

void clock_domain::follow(const sc_core::sc_event& rising_edge, const sc_core::sc_time& period) {
  external_ = true;
  edge_ = &rising_edge;
  period_known_ = period != sc_core::SC_ZERO_TIME;
  period_ = period_known_ ? period.value() : time_of(1).value();
}

void clock_domain::change_frequency(double frequency_mhz) {
  const cycle_t next = cycle() + 1;
  timing_.change(next, frequency_mhz);
  present_ = other_ = cycle_cache();
  if (scheduled_ == never || halted_) return;
  due_.cancel();
  due_.notify(delay_until(scheduled_));
}

std::uint64_t clock_domain::nanoseconds_at(cycle_t cycle) const {
  if (!external_) return static_cast<std::uint64_t>(static_cast<double>(cycle) * 1e3 / frequency_mhz());
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(edge_at_) * 1000000000 /
                                    timing_.resolution_per_second());
}

cycle_t clock_domain::cycles_in(std::uint64_t nanoseconds) const {
  if (!external_) return static_cast<cycle_t>(static_cast<double>(nanoseconds) * 1e-3 * frequency_mhz());
  return static_cast<cycle_t>(static_cast<unsigned __int128>(nanoseconds) * timing_.resolution_per_second() /
                              1000000000 / period_);
}

void clock_domain::end_of_elaboration() {
  if (!timing_.resolution_is_unchanged())
    SC_REPORT_ERROR("/heddle/clock",
                    "the time resolution was changed after the clock was built: set it before building the GPU");
  // Only here is it known what drives the process; sensitivity cannot be added to one after its module is constructed.
  HEDDLE_HAS_PROCESS(clock_domain);
  SC_METHOD(on_event);
  sensitive << (edge_ != nullptr ? *edge_ : due_);
  dont_initialize();
}

void clock_domain::start_of_simulation() {
  if (external_) return;
  scheduled_ = next_wake();
  if (scheduled_ != never) due_.notify(delay_until(scheduled_));
}

cycle_t clock_domain::next_wake() const { return std::min(next_own_wake(), windows_.next_wake()); }

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
    } else {
      cycle_ = scheduled_;
      run_cycle();
      schedule_next();
    }
    if (busy_cycles_ != busy_before && quiet_observer_ != nullptr && !halted_ && quiet())
      quiet_observer_->clock_quiet();
  } catch (const sc_core::sc_report&) {
    throw;
  } catch (const std::exception& e) {
    halted_ = true;
    running_ = false;
    const bool from_outside = dynamic_cast<const std::runtime_error*>(&e) != nullptr;
    SC_REPORT_ERROR(from_outside ? "/heddle/input" : "/heddle/internal", e.what());
  }
}

void clock_domain::schedule_next() {
  scheduled_ = std::min(next_wake(), sample_at_);
  // Processes are ahead of the domain and have no more work: it is quiet once it has reached their cycle.
  if (scheduled_ == never && windows_.furthest() > cycle_) scheduled_ = windows_.furthest();
  if (scheduled_ != never && !halted_) due_.notify(delay_until(scheduled_));
}

void clock_domain::run_cycle() {
  began_ = true;
  running_ = true;
  bool busy = call_units(true);
  current_ = ~0u;  // no unit of the domain's own can join this cycle any more
  busy |= windows_.run(cycle_, windows_.has_lookahead() && !external_ ? first_sample() : 0);
  running_ = false;
  busy_cycles_ += busy;
  if (!busy && sample_at_ > cycle_) return;
  sample_at_ = never;
  for (cycle_observer* o : observers_) o->after_cycle();
}

cycle_t clock_domain::first_sample() const {
  cycle_t first = never;
  for (const cycle_observer* o : observers_) first = std::min(first, o->next_sample());
  return first;
}

void clock_domain::observe(cycle_observer& observer) { observers_.push_back(&observer); }

void clock_domain::ignore(const cycle_observer& observer) {
  observers_.erase(std::remove(observers_.begin(), observers_.end(), &observer), observers_.end());
}

void clock_domain::sample_at(cycle_t cycle) { sample_at_ = std::min(sample_at_, cycle); }

void clock_domain::resume() {
  if (!halted_) return;
  halted_ = false;
  const cycle_t next = std::max(next_cycle(), cycle_ + 1);
  wake_all(next);
  windows_.resume(next);
  scheduled_ = never;
  notify_at(next);
}

void clock_domain::halt() {
  halted_ = true;
  windows_.halt();
  if (!external_) due_.cancel();
}

void clock_domain::exchange(state_image& image) {
  unit_clock::exchange(image);
  image(timing_, scheduled_, sample_at_, busy_cycles_);
  windows_.exchange(image);
  if (!image.reading()) return;
  present_ = cycle_cache();
  due_.cancel();
  if (scheduled_ != never && !halted_) due_.notify(delay_until(scheduled_));
}

}  // namespace heddle

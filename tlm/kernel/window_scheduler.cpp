// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/window_scheduler.h"

#include <algorithm>

#include "heddle/tlm/kernel/logical_process.h"

namespace heddle {

unsigned window_scheduler::add(logical_process& process) {
  processes_.push_back(&process);
  wake_.push_back(never);
  counted_ = static_cast<unsigned>(wake_.size());
  return static_cast<unsigned>(processes_.size() - 1);
}

void window_scheduler::wake(unsigned process, cycle_t cycle) {
  wake_[process] = std::min(wake_[process], cycle);
  if (process < counted_) next_ = std::min(next_, cycle);
}

bool window_scheduler::run(cycle_t now, cycle_t sample) {
  bool busy = now == furthest_ && now != 0;
  if (next_ > now) return busy;
  next_ = never;
  for (unsigned i = 0; i < processes_.size(); ++i) {
    counted_ = i;
    if (wake_[i] <= now && !halted_) {
      busy = true;
      cycle_t end = now;
      if (sample > now + 1) end = std::max(end, std::min(lookahead_->safe_time(i, now), sample - 1));
      unit_clock& process = *processes_[i];
      run_window(process, i, now, end);
      wake_[i] = process.next_own_wake();
      furthest_ = std::max(furthest_, process.cycle_);
    }
    next_ = std::min(next_, wake_[i]);
  }
  counted_ = static_cast<unsigned>(processes_.size());
  return busy;
}

void window_scheduler::run_window(unit_clock& process, unsigned number, cycle_t now, cycle_t end) {
  process.window_end_ = end;
  process.unanswered_until_ = now;
  process.running_ = true;
  while (!process.halted_) {
    const cycle_t next = process.next_own_wake();
    if (next > process.window_end_) break;
    if (next > process.unanswered_until_ &&
        (process.unanswered_until_ = lookahead_->answer_free_until(number, next)) < next)
      break;
    process.cycle_ = next;
    process.began_ = true;
    process.call_units(next == now);
  }
  process.running_ = false;
  process.window_end_ = 0;
}

void window_scheduler::abandon() {
  for (unit_clock* p : processes_) p->running_ = false;
  counted_ = static_cast<unsigned>(wake_.size());
  next_ = wake_.empty() ? never : *std::min_element(wake_.begin(), wake_.end());
}

void window_scheduler::halt() {
  halted_ = true;
  for (unit_clock* p : processes_) p->halted_ = true;
}

std::uint64_t window_scheduler::calls() const {
  std::uint64_t n = 0;
  for (const unit_clock* p : processes_) n += p->calls();
  return n;
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/window_scheduler.h"

#include <algorithm>
#include <random>

#include "heddle/tlm/kernel/thread_team.h"

namespace heddle {

window_scheduler::window_scheduler() = default;

window_scheduler::~window_scheduler() = default;

void window_scheduler::use_threads(unsigned threads) {
  threads_ = threads > 1 ? std::make_unique<thread_team>(threads) : nullptr;
}

unsigned window_scheduler::add(unit_clock& process) {
  processes_.push_back(&process);
  wake_.push_back(never);
  return static_cast<unsigned>(processes_.size() - 1);
}

void window_scheduler::wake(unsigned process, cycle_t cycle) {
  wake_[process] = std::min(wake_[process], cycle);
  next_wake_ = std::min(next_wake_, cycle);
}

bool window_scheduler::run(cycle_t now, cycle_t sample) {
  if (next_wake_ > now || halted_) return now == furthest_ && now != 0;
  plan(now, sample);
  if (sample > now + 1) lookahead_->begin_windows();
  if (threads_ != nullptr) run_on_threads(now);
  for (const window& w : windows_) {
    if (threads_ == nullptr) run_window(w, now);
    next_wake_ = std::min(next_wake_, wake_[w.process]);
    furthest_ = std::max(furthest_, processes_[w.process]->cycle_);
  }
  if (!failures_.empty()) rethrow_first();
  apply_outboxes();
  return true;
}

// All safe times are determined before the first window runs, so that none depends on what another window sends.
// next_wake_ becomes that of the other processes.
void window_scheduler::plan(cycle_t now, cycle_t sample) {
  windows_.clear();
  next_wake_ = never;
  const cycle_t latest = threads_ != nullptr && sample > now + 1 ? sample - 1 : now;
  for (unsigned i = 0; i < wake_.size(); ++i) {
    if (wake_[i] <= latest) {
      cycle_t end = now;
      if (sample > now + 1) end = std::max(end, std::min(lookahead_->safe_time(i, now), sample - 1));
      if (wake_[i] <= end) {
        windows_.push_back({i, end});
        continue;
      }
    }
    next_wake_ = std::min(next_wake_, wake_[i]);
  }
}

// Windows that end in the present cycle come first, on this thread.
void window_scheduler::run_on_threads(cycle_t now) {
  now_ = now;
  parallel_.clear();
  for (const window& w : windows_) {
    if (w.end > now) parallel_.push_back(w);
    else run_window(w, now);
  }
  if (!parallel_.empty()) threads_->run(*this, parallel_.size());
}

void window_scheduler::run_task(std::size_t number) { run_window(parallel_[number], now_); }

void window_scheduler::run_window(const window& w, cycle_t now) {
  unit_clock& process = *processes_[w.process];
  process.effects_.begin_window();
  process.window_end_ = w.end;
  process.unanswered_until_ = now;
  process.running_ = true;
  bool first = true;  // in the window: the process's state may be far from the host's caches
  try {
    while (!process.halted_) {
      const cycle_t next = process.next_own_wake();
      if (next > process.window_end_) break;
      if (next > process.unanswered_until_ &&
          (process.unanswered_until_ = lookahead_->answer_free_until(w.process, next)) < next)
        break;
      process.cycle_ = next;
      process.began_ = true;
      process.call_units(first);
      first = false;
    }
  } catch (...) {
    const std::lock_guard<std::mutex> lock(failing_);
    failures_.push_back({process.cycle_, w.process, std::current_exception()});
  }
  process.running_ = false;
  process.window_end_ = 0;
  process.effects_.end_window();
  wake_[w.process] = process.next_own_wake();
}

void window_scheduler::apply_outboxes() {
  if (shuffles_ != 0) {
    std::mt19937_64 random(shuffles_++);
    std::shuffle(windows_.begin(), windows_.end(), random);
    for (const window& w : windows_) processes_[w.process]->effects_.apply(random() % 2 != 0);
    return;
  }
  for (const window& w : windows_) {
    outbox& effects = processes_[w.process]->effects_;
    if (effects.holds_effects()) effects.apply();
  }
}

void window_scheduler::rethrow_first() {
  const auto first = std::min_element(failures_.begin(), failures_.end(), [](const failure& a, const failure& b) {
    return a.cycle != b.cycle ? a.cycle < b.cycle : a.process < b.process;
  });
  const std::exception_ptr what = first->what;
  failures_.clear();
  std::rethrow_exception(what);
}

void window_scheduler::halt() {
  halted_ = true;
  for (unit_clock* p : processes_) p->halted_ = true;
}

void window_scheduler::resume(cycle_t cycle) {
  halted_ = false;
  next_wake_ = never;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    unit_clock& p = *processes_[i];
    p.halted_ = false;
    wake_[i] = p.began_ ? std::max(cycle, p.cycle_ + 1) : cycle;
    p.wake_all(wake_[i]);
    next_wake_ = std::min(next_wake_, wake_[i]);
  }
}

std::uint64_t window_scheduler::calls() const {
  std::uint64_t n = 0;
  for (const unit_clock* p : processes_) n += p->calls();
  return n;
}

void window_scheduler::exchange(state_image& image) {
  for (unit_clock* p : processes_) p->exchange(image);
  image.each(wake_);
  image(next_wake_, furthest_, halted_);
}

}  // namespace heddle

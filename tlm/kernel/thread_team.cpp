// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/thread_team.h"

#include <csignal>

namespace heddle {

namespace {
// Lists follow each other within some microseconds; sleeping and waking take longer. Where threads share a core, one
// that reads keeps another from its tasks.
constexpr unsigned most_reads = 2000;

unsigned reads_before_sleep(unsigned threads) { return threads > std::thread::hardware_concurrency() ? 0 : most_reads; }

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}
}  // namespace

// Signals are for the threads of the program, whose system calls they interrupt.
thread_team::thread_team(unsigned threads) : reads_before_sleep_(reads_before_sleep(threads)) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (unsigned i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

thread_team::~thread_team() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  begun_.notify_all();
  for (std::thread& t : helpers_) t.join();
}

void thread_team::run(task_list& tasks, std::size_t count) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks_ = &tasks;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    open_ = true;
    lists_.fetch_add(1, std::memory_order_relaxed);
  }
  begun_.notify_all();
  work();
  std::unique_lock<std::mutex> lock(mutex_);
  open_ = false;
  left_.wait(lock, [this] { return helping_ == 0; });
}

void thread_team::work() {
  for (;;) {
    const std::size_t task = next_.fetch_add(1, std::memory_order_relaxed);
    if (task >= count_) return;
    tasks_->run_task(task);
  }
}

// Waits for a list after `seen` and joins it. False: the team ends.
bool thread_team::join_list(std::uint64_t& seen) {
  for (unsigned reads = 0; reads < reads_before_sleep_ && lists_.load(std::memory_order_relaxed) == seen; ++reads)
    pause_briefly();
  std::unique_lock<std::mutex> lock(mutex_);
  begun_.wait(lock, [&] { return ends_ || (open_ && lists_.load(std::memory_order_relaxed) != seen); });
  if (ends_) return false;
  seen = lists_.load(std::memory_order_relaxed);
  ++helping_;
  return true;
}

void thread_team::help() {
  for (std::uint64_t seen = 0; join_list(seen);) {
    work();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--helping_ == 0) left_.notify_one();
  }
}

}  // namespace heddle

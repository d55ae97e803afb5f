// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "heddle/tlm/kernel/task_list.h"

namespace heddle {

/// Threads that execute lists of tasks together with the thread that calls run(). Between two lists they wait, first
/// for a short time by reading a counter if there is a core for each of them, then asleep. A thread that wakes too late
/// for a list does not delay it.
class thread_team {
 public:
  /// `threads` includes the caller's: one less is created.
  explicit thread_team(unsigned threads);
  ~thread_team();
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;

  /// Runs tasks 0 to `count` - 1, each once; which thread runs which is not determined. Returns when all have ended.
  /// What the caller wrote before is visible to the tasks, and what they wrote to the caller afterwards.
  void run(task_list& tasks, std::size_t count);
  [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(helpers_.size()) + 1; }

 private:
  void help();
  void work();
  bool join_list(std::uint64_t& seen);

  const unsigned reads_before_sleep_;
  std::vector<std::thread> helpers_;
  std::atomic<std::size_t> next_{0};     // the first task not taken yet
  std::atomic<std::uint64_t> lists_{0};  // lists begun; changed under mutex_
  std::mutex mutex_;                     // guards what follows
  std::condition_variable begun_;
  std::condition_variable left_;
  task_list* tasks_ = nullptr;  // constant while helpers are in the list
  std::size_t count_ = 0;       // likewise
  unsigned helping_ = 0;        // helpers that are in the present list
  bool open_ = false;           // helpers may join the present list
  bool ends_ = false;
};

}  // namespace heddle

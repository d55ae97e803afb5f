// SPDX-License-Identifier: MIT
// Launches of independent blocks on several threads.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>

#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/tlm/kernel/thread_team.h"

namespace heddle {

/// The threads of an executor.
class functional_executor::crew final : private task_list {
 public:
  explicit crew(unsigned threads) : team_(threads) {}
  /// Runs the leader and its helpers to their ends.
  void run(functional_executor& leader) {
    leader_ = &leader;
    team_.run(*this, leader.helpers_.size() + 1);
  }

 private:
  static constexpr std::chrono::milliseconds between_questions{20};  // to the observer

  void run_task(std::size_t number) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++busy_;
    }
    (number == 0 ? *leader_ : *leader_->helpers_[number - 1]).run_share();
    std::unique_lock<std::mutex> lock(mutex_);
    if (--busy_ == 0) ended_.notify_all();
    if (std::this_thread::get_id() != leader_->caller_) return;
    // The observer is asked on this thread, also while it waits for others.
    while (!ended_.wait_for(lock, between_questions, [this] { return busy_ == 0; })) leader_->is_to_stop();
  }

  thread_team team_;
  functional_executor* leader_ = nullptr;
  std::mutex mutex_;  // guards what follows
  std::condition_variable ended_;
  unsigned busy_ = 0;  // executors that run
};

functional_executor::~functional_executor() = default;

void functional_executor::use_threads(unsigned threads) {
  threads_ = std::max(1u, threads);
  helpers_.clear();
  crew_.reset();
}

// Executes the blocks that are left. If some of them wait for others, they are resident here afterwards.
void functional_executor::share_launch() {
  while (helpers_.size() + 1 < threads_)
    helpers_.push_back(std::make_unique<functional_executor>(config_, memory_below_, ranges_, services_));
  if (!crew_) crew_ = std::make_unique<crew>(threads_);
  for (const auto& h : helpers_) h->join(*this);
  concurrent_ = true;
  crew_->run(*this);
  concurrent_ = false;
  for (const auto& h : helpers_) take_over(*h);
}

// The program is copied, as its hints change.
void functional_executor::join(const functional_executor& leader) {
  auto& p = programs_[leader.launch_->decoded.get()];
  if (!p) p = std::make_unique<functional_program>(*leader.program_);
  begin(*leader.launch_, *p, *leader.supply_);
  observer_ = leader.observer_;
  follower_ = leader.follower_;
  caller_ = leader.caller_;
  clock_ = leader.clock_;
  concurrent_ = true;
}

void functional_executor::run_share() {
  try {
    run_blocks();
  } catch (...) {
    supply_->stop(std::current_exception());
  }
  supply_->give_back(next_);
  next_ = {};
}

void functional_executor::take_over(functional_executor& helper) {
  executed_ += helper.executed_;
  most_of_block_ = std::max(most_of_block_, helper.most_of_block_);
  std::move(helper.resident_.begin(), helper.resident_.end(), std::back_inserter(resident_));
  std::move(helper.clusters_.begin(), helper.clusters_.end(), std::back_inserter(clusters_));
  helper.end_launch();
}

}  // namespace heddle

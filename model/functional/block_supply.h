// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "heddle/functional/functional_block.h"

namespace heddle {

/// The clusters of a launch, by number, as threads take them; a block without a cluster is one. Keeps what ends the
/// launch early: of several failures that of the lowest cluster, whose number does not depend on the threads, as all
/// lower ones are executed to their ends.
class block_supply {
 public:
  struct range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  /// A new launch of `total` clusters, those from `first` on, taken by so many at a time.
  void open(std::uint64_t first, std::uint64_t total, std::uint64_t at_once) {
    total_ = total;
    at_once_ = at_once;
    next_.store(first, std::memory_order_relaxed);
    lowest_.store(none, std::memory_order_relaxed);
    stopped_.store(false, std::memory_order_relaxed);
    returned_.clear();
    failure_ = {};
    error_ = nullptr;
  }
  /// The clusters to execute next. False: there are none.
  bool take(range& r) {
    r.begin = has_more() ? next_.fetch_add(at_once_, std::memory_order_relaxed) : total_;
    r.end = std::min(r.begin + at_once_, total_);
    if (r.begin >= total_) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (returned_.empty()) return false;
      r = returned_.back();
      returned_.pop_back();
    }
    return needed(r.begin);
  }
  /// True if none has taken the last cluster yet.
  [[nodiscard]] bool has_more() const { return next_.load(std::memory_order_relaxed) < total_; }
  /// Clusters that were taken are left to others.
  void give_back(const range& r) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (r.begin < r.end) returned_.push_back(r);
  }
  /// True unless a failure makes it pointless to execute the cluster.
  [[nodiscard]] bool needed(std::uint64_t cluster) const {
    return cluster < lowest_.load(std::memory_order_relaxed) && !stopped();
  }
  [[nodiscard]] bool failed() const { return lowest_.load(std::memory_order_relaxed) != none; }
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// Nothing of the launch is needed any more.
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  void stop(std::exception_ptr error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error_) error_ = std::move(error);
    stop();
  }
  void fail(std::uint64_t cluster, functional_failure f) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (cluster >= lowest_.load(std::memory_order_relaxed)) return;
    failure_ = std::move(f);
    lowest_.store(cluster, std::memory_order_relaxed);
  }
  // After all threads have ended:
  [[nodiscard]] const functional_failure& failure() const { return failure_; }
  [[nodiscard]] const std::exception_ptr& error() const { return error_; }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t total_ = 0;
  std::uint64_t at_once_ = 1;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> lowest_{none};  // cluster that has failed
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // guards what follows
  std::vector<range> returned_;
  functional_failure failure_;
  std::exception_ptr error_;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "heddle/gpu/host/host_driver.h"
#include "heddle/sanitize/sanitizer.h"
#include "testbench/job/job.h"
#include "testbench/run/cold_start.h"
#include "testbench/run/device_job.h"

namespace heddle::testbench {

/// One stream of a job on the host: its operations in order. Kernels are passed to the GPU as soon as their start
/// cycle is reached; the GPU keeps the launches of a stream in order. Operations of the host itself wait for all
/// earlier operations.
class stream {
 public:
  /// All operations of a client's stream `number`; for a job in order, all operations.
  /// `checks`: learns the order of operations; may be null.
  stream(unsigned client, std::uint32_t number, const job& j, const device_job& device, host_driver& driver,
         cold_start& starts, sanitizer* checks);

  /// Performs all operations that are possible at core cycle `now`. Appends the position in the job of each launch to
  /// `launched`.
  void advance(std::uint64_t now, std::vector<unsigned>& launched);
  /// `launches`: of the job, by the driver's number.
  void exchange(state_image& image, const std::vector<const operation*>& launches);
  [[nodiscard]] bool done() const { return at_ == steps_.size() && outstanding_.empty(); }
  /// The start cycle that the next launch waits for; the largest number if it waits for something else.
  [[nodiscard]] std::uint64_t wakes_at() const { return wakes_at_; }
  /// A kernel that has not finished; null: none.
  [[nodiscard]] const operation* waiting_for() const {
    return outstanding_.empty() ? nullptr : outstanding_.front().op;
  }

 private:
  struct step {
    enum class kind : std::uint8_t { run, loop_begin, loop_end };
    kind what = kind::run;
    const operation* op = nullptr;
    std::size_t begin = 0;     // loop_end: index of its loop_begin
    std::uint64_t rounds = 0;  // loop_begin: iterations begun so far
  };
  struct launch {
    unsigned number;
    const operation* op;
  };

  void compile(const std::vector<operation>& operations);
  void forget_finished();
  void transfer(const operation& op);
  void host_operation(const operation& op);
  sanitize::host_work next_work(const operation& op);
  bool repeats(const step& end);

  const unsigned client_;
  const std::uint32_t number_;
  const job& job_;
  const device_job& device_;
  host_driver& driver_;
  cold_start& starts_;  // of all streams
  sanitizer* const checks_;
  sanitize::host_order order_;
  std::vector<step> steps_;
  std::size_t at_ = 0;
  /// CUDA's queue of launches, too, holds about so many; a further launch waits.
  static constexpr std::size_t most_outstanding = 1024;
  std::deque<launch> outstanding_;
  std::uint64_t wakes_at_ = ~std::uint64_t{0};
};

}  // namespace heddle::testbench

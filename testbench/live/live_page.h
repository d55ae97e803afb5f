// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "heddle/gpu/gpu.h"
#include "heddle/metrics/client_metrics.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "testbench/live/break_point.h"
#include "testbench/live/page_server.h"

namespace heddle::testbench {

/// What the page asks of the run.
class live_run {
 public:
  /// Up to now: the content of a metrics file.
  [[nodiscard]] virtual std::string metrics_text() = 0;
  /// Of simulation.
  [[nodiscard]] virtual double seconds() const = 0;
  /// A signal waits to be handled.
  [[nodiscard]] virtual bool is_interrupted() const = 0;
  /// The processes that share the GPU, by their numbers from 1 on: name and slice of each.
  [[nodiscard]] virtual std::vector<client_metrics> sharing_clients() const = 0;

 protected:
  ~live_run() = default;
};

/// The page of a run in progress (--serve). Browsers' questions arrive on the server's thread, and the simulation
/// answers them between two cycles, with all SMs at the same cycle, which changes no result. Without questions
/// a run has one more observer of its clock, and is not held up.
class live_page final : private cycle_observer, private page_handler {
 public:
  struct options {
    std::uint16_t port = 0;  // 0: a free one
    bool control = false;    // the page may pause the run
  };

  /// Listens from now on. `g` and `r` outlive the page. `name` of the run: for the reader. Throws input_error if the
  /// port cannot be used.
  live_page(gpu& g, live_run& r, const std::string& name, const options& o);
  ~live_page() override;
  live_page(const live_page&) = delete;
  live_page& operator=(const live_page&) = delete;

  /// "http://127.0.0.1:8000/"
  [[nodiscard]] std::string address() const;

  /// The next cycle in which between_cycles() is to be called; never: in none that is known yet. The simulation is
  /// paused when this changes.
  [[nodiscard]] cycle_t next_stop();
  /// The simulation is between two cycles, in cycle `now`, which is next_stop(), or without activity: answers, and
  /// stays here as long as the run is paused, but for signals.
  void between_cycles(cycle_t now);
  /// The cycle in which it answers.
  [[nodiscard]] cycle_t cycle() const { return now_; }
  /// The run stays in this cycle.
  [[nodiscard]] bool is_paused() const { return paused_; }
  /// The run is about to end in one of the next cycles: it is paused no more.
  void pause_no_more();
  /// The run has ended: ends all connections.
  void end();

 private:
  using question = std::function<page_answer()>;
  struct asked {
    question what;
    page_reply reply;
  };

  void after_cycle() override;
  [[nodiscard]] cycle_t next_sample() const override { return never; }  // it samples no unit
  void answer(const page_request& r, const page_reply& reply) override;
  void control(const page_request& r, const page_reply& reply);
  void ask(question q, const page_reply& reply);
  void answer_all();
  void check_break();
  void pause(const std::string& why);
  void go_on();
  page_answer state();
  page_answer step(std::uint64_t cycles);

  gpu& gpu_;
  const bool control_;
  live_run& run_;
  const std::string name_;
  std::string page_;

  std::mutex mutex_;  // of what follows, up to the line
  std::condition_variable came_;
  std::deque<asked> asked_;
  bool ended_ = false;
  std::atomic<bool> pending_{false};
  // -----
  cycle_t now_ = 0;          // between two cycles
  cycle_t meeting_ = never;  // SMs are in step from this cycle on, to answer
  cycle_t step_end_ = never;
  std::optional<break_point> break_;
  bool in_step_ = false;  // for a break at a line, or steps
  bool paused_ = false;
  bool may_pause_ = true;
  bool line_issued_ = false;
  cycle_t after_line_ = 0;  // the cycle behind the one in which it issued
  std::string why_;         // it is paused
  std::unique_ptr<page_server> server_;
};

}  // namespace heddle::testbench

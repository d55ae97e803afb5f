// SPDX-License-Identifier: MIT
#include "testbench/live/live_page.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <systemc>
#include <utility>

#include "heddle/config/error.h"
#include "testbench/live/live_state.h"
#include "testbench/live/pause_request.h"
#include "testbench/report/metrics_report.h"
#include "testbench/report/report_page.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr cycle_t condition_interval = 1000;  // cycles between two checks of a condition
constexpr std::uint64_t most_step = 1'000'000'000;

page_answer text_answer(unsigned status, const std::string& text) {
  return {status, "text/plain; charset=utf-8", text + "\n"};
}

std::uint64_t number_of(const page_request& r, const char* name, std::uint64_t usual, std::uint64_t most) {
  const auto at = r.parameters.find(name);
  if (at == r.parameters.end()) return usual;
  std::uint64_t value = 0;
  if (!parse_unsigned(at->second, value) || value > most)
    throw input_error(std::string(name) + ": expected a number up to " + std::to_string(most));
  return value;
}

}  // namespace

live_page::live_page(gpu& g, live_run& r, const std::string& name, const options& o)
    : gpu_(g), control_(o.control), run_(r), name_(name) {
  page_ = report_page(nlohmann::json{{"kind", "live"}, {"control", control_}, {"version", HEDDLE_VERSION}}.dump());
  page_handler& handler = *this;
  server_ = std::make_unique<page_server>(o.port, "--serve", "/events", handler);
  gpu_.core_clock().observe(*this);
}

live_page::~live_page() {
  end();
  gpu_.core_clock().ignore(*this);
}

std::string live_page::address() const { return "http://127.0.0.1:" + std::to_string(server_->port()) + "/"; }

// On the server's thread.
void live_page::answer(const page_request& r, const page_reply& reply) {
  try {
    if (r.changes) return control(r, reply);
    if (r.path == "/") return reply({200, "text/html; charset=utf-8", page_});
    if (r.path == "/state" || r.path == "/events") return ask([this] { return state(); }, reply);
    if (r.path == "/metrics")
      return ask([this] { return page_answer{200, "application/json", run_.metrics_text()}; }, reply);
    if (r.path == "/report")
      return ask(
          [this] {
            return page_answer{200, "application/json", report_of_metrics({{name_, run_.metrics_text()}})};
          },
          reply);
    if (r.path != "/sm") return reply(text_answer(404, "there is no such page"));
    const auto number = static_cast<unsigned>(number_of(r, "number", 0, gpu_.sm_count() - 1));
    ask(
        [this, number] {
          nlohmann::ordered_json s = state_of_sm(gpu_, number);
          s["cycle"] = now_;
          return page_answer{200, "application/json", s.dump()};
        },
        reply);
  } catch (const input_error& e) {
    reply(text_answer(400, e.what()));
  }
}

void live_page::control(const page_request& r, const page_reply& reply) {
  if (!control_) return reply(text_answer(403, "this run can only be read: --serve-control was not given"));
  if (r.path == "/pause") {
    ask(
        [this] {
          if (!paused_) pause("asked by the page");
          return state();
        },
        reply);
  } else if (r.path == "/resume") {
    ask(
        [this] {
          paused_ = false;
          return state();
        },
        reply);
  } else if (r.path == "/step") {
    ask([this, n = number_of(r, "cycles", 1, most_step)] { return step(n); }, reply);
  } else if (r.path == "/break") {
    ask(
        [this, b = break_point(r.parameters)]() mutable {
          if (b.what() == break_point::kind::cycle && b.cycle() <= now_)
            return text_answer(400, "cycle " + std::to_string(b.cycle()) + " has passed");
          if (may_pause_) break_ = std::move(b);
          return state();
        },
        reply);
  } else if (r.path == "/unbreak") {
    ask(
        [this] {
          break_.reset();
          return state();
        },
        reply);
  } else {
    reply(text_answer(404, "there is no such page"));
  }
}

void live_page::ask(question q, const page_reply& reply) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!ended_) {
      asked_.push_back({std::move(q), reply});
      pending_.store(true, std::memory_order_relaxed);
      came_.notify_one();
      return;
    }
  }
  reply(text_answer(410, "the run has ended"));
}

// All that follows is on the simulation's thread.

void live_page::after_cycle() {
  if (break_ && break_->what() == break_point::kind::line && in_step_ && break_->line_issued(gpu_)) {
    line_issued_ = true;
    after_line_ = gpu_.cycle() + 1;
  }
  if (!line_issued_ && (meeting_ != never || !pending_.load(std::memory_order_relaxed))) return;
  pause_request::make();
}

cycle_t live_page::next_stop() {
  now_ = std::max(now_, gpu_.cycle());
  if (paused_) return now_;
  if (line_issued_) return std::max(now_, after_line_);
  if (meeting_ == never && pending_.load(std::memory_order_relaxed))
    meeting_ = in_step_ ? now_ : gpu_.bring_into_step();
  cycle_t next = std::min(meeting_, step_end_);
  if (break_ && break_->what() == break_point::kind::cycle) next = std::min(next, break_->cycle());
  if (break_ && break_->what() == break_point::kind::condition)
    next = std::min(next, (now_ / condition_interval + 1) * condition_interval);
  return next;
}

void live_page::between_cycles(cycle_t now) {
  now_ = now;
  check_break();
  answer_all();
  constexpr std::chrono::milliseconds signal_interval(50);
  while (paused_ && !run_.is_interrupted()) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      came_.wait_for(lock, signal_interval, [this] { return !asked_.empty(); });
    }
    answer_all();
  }
  if (!paused_) go_on();
}

void live_page::check_break() {
  if (now_ >= step_end_) pause("step");
  if (!break_) return;
  using kind = break_point::kind;
  const bool met = break_->what() == kind::cycle  ? now_ >= break_->cycle()
                   : break_->what() == kind::line ? line_issued_
                                                  : break_->holds(run_.metrics_text());
  line_issued_ = false;
  if (!met) return;
  pause(break_->text());
  break_.reset();
}

void live_page::pause(const std::string& why) {
  if (!may_pause_) return;
  paused_ = true;
  why_ = why;
  step_end_ = never;
}

void live_page::pause_no_more() {
  may_pause_ = paused_ = false;
  break_.reset();
  step_end_ = never;
  go_on();
}

page_answer live_page::step(std::uint64_t cycles) {
  if (may_pause_) step_end_ = now_ + std::max<std::uint64_t>(cycles, 1);
  paused_ = false;
  return state();
}

void live_page::answer_all() {
  std::deque<asked> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    all.swap(asked_);
    pending_.store(false, std::memory_order_relaxed);
  }
  for (asked& a : all) {
    page_answer answer;
    try {
      answer = a.what();
    } catch (const std::exception& e) {
      answer = text_answer(500, e.what());
    }
    a.reply(std::move(answer));
  }
}

// Time windows may reach as far as the next cycle in which something is to be done. If that is too near for them, or
// unknown, the SMs stay in step.
void live_page::go_on() {
  meeting_ = never;
  in_step_ = break_ && break_->what() == break_point::kind::line;
  const cycle_t next = next_stop();
  in_step_ = in_step_ || (next != never && gpu_.bring_into_step(next) != next);
  if (in_step_) return;
  gpu_.release_ahead();
  if (next != never) gpu_.bring_into_step(next);
}

page_answer live_page::state() {
  nlohmann::ordered_json s = state_of(gpu_, run_.sharing_clients());
  s["cycle"] = now_;
  s["run"] = name_;
  s["gpu"] = gpu_.config().gpu.name;
  s["seconds"] = run_.seconds();
  s["paused"] = paused_;
  s["paused_by"] = paused_ ? nlohmann::ordered_json(why_) : nlohmann::ordered_json();
  s["break"] = break_ ? nlohmann::ordered_json(break_->text()) : nlohmann::ordered_json();
  return {200, "application/json", s.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

void live_page::end() {
  std::deque<asked> left;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    left.swap(asked_);
  }
  for (const asked& a : left) a.reply(text_answer(410, "the run has ended"));
  server_.reset();
}

}  // namespace heddle::testbench

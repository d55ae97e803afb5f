// SPDX-License-Identifier: MIT
// Windows of logical processes: what they do outside is applied after them, in the order in which each process sent it;
// exceptions; windows on several threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "heddle/tlm/kernel/logical_process.h"
#include "heddle/tlm/kernel/outbox.h"
#include "heddle/tlm/kernel/thread_team.h"
#include "tests/unit/common/fresh_simulation.h"

using namespace heddle;

namespace outbox_test {

/// A unit outside, which records what arrives.
struct receiver {
  void take(const int& value) { values.push_back(value); }
  std::vector<int> values;
};
using channel = deferred_effects<receiver, int, &receiver::take>;

TEST(outbox, effects_wait_for_the_end_of_the_window) {
  receiver first, second;
  channel to_first(first), to_second(second);
  outbox effects;
  to_first.send(1);
  EXPECT_EQ(first.values, (std::vector<int>{1})) << "no outbox is connected";
  to_first.connect(effects);
  to_second.connect(effects);
  to_first.send(2);
  EXPECT_EQ(first.values, (std::vector<int>{1, 2})) << "no window runs";
  EXPECT_FALSE(effects.holds_effects());
  effects.begin_window();
  to_second.send(10);
  to_first.send(3);
  to_first.send(4);
  to_second.send(11);
  effects.end_window();
  EXPECT_TRUE(effects.holds_effects());
  EXPECT_EQ(first.values.size() + second.values.size(), 2u);
  effects.apply();
  EXPECT_EQ(first.values, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(second.values, (std::vector<int>{10, 11}));
  EXPECT_FALSE(effects.holds_effects());
  effects.apply();
  EXPECT_EQ(first.values.size(), 4u) << "an effect is applied once";
}

TEST(outbox, reversed_it_keeps_the_order_within_a_section) {
  std::vector<std::string> order;
  struct unit {
    std::vector<std::string>& order;
    std::string name;
    void take(const int& value) { order.push_back(name + std::to_string(value)); }
  } a{order, "a"}, b{order, "b"};
  deferred_effects<unit, int, &unit::take> to_a(a), to_b(b);
  outbox effects;
  to_a.connect(effects);
  to_b.connect(effects);
  effects.begin_window();
  for (const int value : {1, 2}) {
    to_a.send(value);
    to_b.send(value);
  }
  effects.end_window();
  effects.apply(true);
  EXPECT_EQ(order, (std::vector<std::string>{"b1", "b2", "a1", "a2"}));
}

/// Works in each cycle from 1 to `last`, and sends each of them to a log outside.
struct worker : clocked {
  struct log {
    void take(const std::string& text) { texts.push_back(text); }
    std::vector<std::string> texts;
  };
  worker(logical_process& p, log& outside, std::string n, cycle_t end)
      : clock(p, *this), sent(outside), name(std::move(n)), last(end) {
    sent.connect(p.effects());
    clock.wake_at(1);
  }
  void on_cycle(cycle_t cycle) override {
    if (cycle == fails_in) throw std::logic_error(name + " fails in " + std::to_string(cycle));
    sum = sum * 31 + cycle;
    sent.send(name + std::to_string(cycle));
    if (cycle < last) clock.wake_at(cycle + 1 + (sum & skips));
  }
  clock_port clock;
  deferred_effects<log, std::string, &log::take> sent;
  std::string name;
  cycle_t last;
  cycle_t fails_in = 0;
  std::uint64_t skips = 0;  // up to so many cycles without work
  std::uint64_t sum = 0;
};

/// Windows of `length` cycles.
struct windows_of : lookahead {
  explicit windows_of(cycle_t n) : length(n) {}
  cycle_t safe_time(unsigned, cycle_t now) override { return now + length - 1; }
  cycle_t answer_free_until(unsigned, cycle_t) override { return never; }
  cycle_t length;
};

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& t : texts) all += (all.empty() ? "" : " ") + t;
  return all;
}

struct outboxes : fresh_simulation {};

TEST_F(outboxes, are_applied_after_all_windows_in_the_order_of_processes) {
  clock_domain domain("domain", 1000);
  logical_process first("first", domain), second("second", domain);
  worker::log log;
  worker a(first, log, "a", 4), b(second, log, "b", 3);
  windows_of three(3);
  domain.set_lookahead(&three);
  sc_core::sc_start(1500, sc_core::SC_PS);
  EXPECT_EQ(joined(log.texts), "a1 a2 a3 b1 b2 b3");
  sc_core::sc_start(10, sc_core::SC_NS);
  EXPECT_EQ(joined(log.texts), "a1 a2 a3 b1 b2 b3 a4");
}

TEST_F(outboxes, shuffled_keep_the_order_of_each_process) {
  std::vector<std::string> orders;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
    restart();
    clock_domain domain("domain", 1000);
    logical_process first("first", domain), second("second", domain);
    worker::log log;
    worker a(first, log, "a", 2), b(second, log, "b", 2);
    windows_of two(2);
    domain.set_lookahead(&two);
    domain.shuffle_outboxes(seed);
    sc_core::sc_start(10, sc_core::SC_NS);
    orders.push_back(joined(log.texts));
    EXPECT_TRUE(orders.back() == "a1 a2 b1 b2" || orders.back() == "b1 b2 a1 a2") << orders.back();
  }
  EXPECT_NE(std::count(orders.begin(), orders.end(), orders[0]), 8) << "no seed changes the order";
}

TEST_F(outboxes, the_exception_of_the_least_cycle_leaves_the_windows) {
  for (const unsigned threads : {1u, 2u, 3u}) {
    restart();
    clock_domain domain("domain", 1000);
    logical_process first("first", domain), second("second", domain), third("third", domain);
    worker::log log;
    worker a(first, log, "a", 9), b(second, log, "b", 9), c(third, log, "c", 9);
    a.fails_in = 5;
    b.fails_in = c.fails_in = 4;
    windows_of eight(8);
    domain.set_lookahead(&eight);
    domain.use_threads(threads);
    try {
      sc_core::sc_start(10, sc_core::SC_NS);
      ADD_FAILURE() << "nothing was reported";
    } catch (const sc_core::sc_report& report) {
      EXPECT_STREQ(report.get_msg(), "b fails in 4");
    }
  }
}

TEST_F(outboxes, any_number_of_threads_gives_the_same_results) {
  std::vector<std::uint64_t> expected;
  for (const unsigned threads : {1u, 2u, 3u, 5u, 8u}) {
    restart();
    clock_domain domain("domain", 1000);
    std::vector<std::unique_ptr<logical_process>> processes;
    std::vector<std::unique_ptr<worker>> workers;
    std::vector<worker::log> logs(20);
    for (unsigned i = 0; i < 20; ++i) {
      processes.push_back(std::make_unique<logical_process>(("p" + std::to_string(i)).c_str(), domain));
      workers.push_back(std::make_unique<worker>(*processes[i], logs[i], "", 400 + i));
      workers[i]->sum = i;
      workers[i]->skips = 3;
    }
    windows_of seven(7);
    domain.set_lookahead(&seven);
    domain.use_threads(threads);
    sc_core::sc_start(500, sc_core::SC_NS);
    std::vector<std::uint64_t> sums;
    for (unsigned i = 0; i < 20; ++i) {
      sums.push_back(workers[i]->sum);
      EXPECT_GT(logs[i].texts.size(), 100u);
      sums.push_back(std::hash<std::string>()(joined(logs[i].texts)));
    }
    if (threads == 1) expected = sums;
    EXPECT_EQ(sums, expected) << threads << " threads";
  }
}

TEST(thread_team, runs_each_task_once_and_is_done_when_it_returns) {
  struct counted : task_list {
    void run_task(std::size_t number) override { ++runs[number]; }
    std::vector<unsigned> runs;
  };
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    thread_team team(threads);
    EXPECT_EQ(team.threads(), threads);
    for (std::size_t list = 0; list < 300; ++list) {
      counted tasks;
      tasks.runs.resize(list % 17);
      team.run(tasks, tasks.runs.size());
      for (const unsigned runs : tasks.runs) EXPECT_EQ(runs, 1u);
    }
  }
}

}  // namespace outbox_test

// SPDX-License-Identifier: MIT
// Logical processes of a clock domain: which unit is called when, within a window or cycle by cycle, and messages that
// arrive too late.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/tlm/kernel/logical_process.h"
#include "tests/unit/common/fresh_simulation.h"

using namespace heddle;

namespace logical_process_test {

/// Records its calls and wakes itself in the next cycle, a fixed number of times.
struct counting : clocked {
  counting(unit_clock& d, std::vector<std::string>& l, const char* n, unsigned times)
      : clock(d, *this), log(l), name(n), left(times) {
    clock.wake_at(1);
  }
  void on_cycle(cycle_t cycle) override {
    log.push_back(name + std::to_string(cycle));
    EXPECT_EQ(cycle, clock.cycle());
    EXPECT_EQ(clock.domain().time_of(cycle), sc_core::sc_time_stamp() + clock.domain().local_time_offset());
    if (--left != 0) clock.wake_at(cycle + 1);
    if (cycle == stays_at) clock.domain().limit_window(cycle + 1);
  }
  clock_port clock;
  std::vector<std::string>& log;
  std::string name;
  unsigned left;
  cycle_t stays_at = 0;
};

struct fixed_lookahead : lookahead {
  cycle_t safe_time(unsigned process, cycle_t now) override { return process == 0 ? now + 2 : now; }
  cycle_t answer_free_until(unsigned, cycle_t cycle) override {
    return cycle < barred ? barred - 1 : cycle > barred ? never : 0;
  }
  cycle_t barred = 0;
};

struct quiet_observer : cycle_observer {
  void after_cycle() override { ++calls; }
  [[nodiscard]] cycle_t next_sample() const override { return from; }
  cycle_t from = never;
  unsigned calls = 0;
};

// SystemC elaborates once in a process, so every domain exists from the start and the tests check what each has
// recorded.
struct machine {
  explicit machine(const char* name)
      : domain((std::string(name) + "_domain").c_str(), 1000),
        first((std::string(name) + "_first").c_str(), domain),
        second((std::string(name) + "_second").c_str(), domain),
        own(domain, log, "w", 2),
        a(first, log, "a", 5),
        b(second, log, "b", 3) {}
  clock_domain domain;
  logical_process first, second;
  std::vector<std::string> log;
  counting own, a, b;
  fixed_lookahead ahead;
  quiet_observer observer;
};

std::string joined(const std::vector<std::string>& log) {
  std::string s;
  for (const auto& l : log) s += (s.empty() ? "" : " ") + l;
  return s;
}

class logical_processes : public fresh_simulation {};

TEST_F(logical_processes, are_called_after_the_domain_up_to_their_safe_time) {
  machine in_step("in_step"), goes_ahead("ahead"), barred("barred"), stays("stays"), sampled_at("sampled_at"),
      halted("halted");
  for (machine* m : {&goes_ahead, &barred, &stays, &sampled_at, &halted}) m->domain.set_lookahead(&m->ahead);
  barred.ahead.barred = 3;
  stays.a.stays_at = 2;
  sampled_at.observer.from = 3;
  sampled_at.domain.observe(sampled_at.observer);
  machine late("late");
  late.domain.set_lookahead(&late.ahead);
  sc_core::sc_start(1500, sc_core::SC_PS);
  EXPECT_EQ("w1 a1 a2 a3 b1", joined(goes_ahead.log));
  EXPECT_FALSE(goes_ahead.domain.quiet());
  EXPECT_EQ(1u, goes_ahead.domain.cycle());
  EXPECT_EQ(1u, goes_ahead.first.cycle());
  // A message after the safe time is taken; one before it is an error of the lookahead.
  late.a.clock.wake_at(4);
  EXPECT_THROW(late.a.clock.wake_at(3), sc_core::sc_report);
  halted.domain.halt();
  sc_core::sc_start(20, sc_core::SC_NS);
  EXPECT_EQ("w1 a1 b1 w2 a2 b2 a3 b3 a4 a5", joined(in_step.log));
  EXPECT_EQ("w1 a1 a2 a3 b1 w2 b2 b3 a4 a5", joined(goes_ahead.log));
  EXPECT_EQ("w1 a1 a2 b1 w2 b2 a3 a4 a5 b3", joined(barred.log)) << "not ahead into cycle 3, and on from there";
  EXPECT_EQ("w1 a1 a2 b1 w2 b2 a3 a4 a5 b3", joined(stays.log)) << "no further than it asked for in cycle 2";
  EXPECT_EQ("w1 a1 a2 b1 w2 b2 a3 b3 a4 a5", joined(sampled_at.log))
      << "in step from the cycle on in which an observer samples";
  EXPECT_EQ("w1 a1 a2 a3 b1", joined(halted.log));
  EXPECT_EQ(10u, goes_ahead.domain.calls());
  EXPECT_TRUE(goes_ahead.domain.quiet());
}

}  // namespace logical_process_test

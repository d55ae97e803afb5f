// SPDX-License-Identifier: MIT
// Parts of a clock domain: who is called when, in step and ahead, and what comes too late.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/tlm/kernel/clock_domain.h"
#include "tests/unit/common/fresh_simulation.h"

using namespace heddle;

namespace clock_parts_test {

/// Writes down its calls and asks for the cycle behind, a fixed number of times.
struct counting : clocked {
  counting(clock_domain& d, std::vector<std::string>& l, const char* n, unsigned times)
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
  cycle_t horizon(unsigned part, cycle_t now) override { return part == 0 ? now + 2 : now; }
  cycle_t reach(unsigned, cycle_t cycle) override { return cycle < barred ? barred - 1 : cycle > barred ? never : 0; }
  cycle_t barred = 0;
};

struct quiet_observer : cycle_observer {
  void after_cycle() override { ++calls; }
  cycle_t next_sample() const override { return from; }
  cycle_t from = never;
  unsigned calls = 0;
};

// SystemC elaborates once in a process, so every domain is there from the start and the tests look at what each has
// written.
struct machine {
  explicit machine(const char* name)
      : whole((std::string(name) + "_whole").c_str(), 1000),
        first((std::string(name) + "_first").c_str(), whole),
        second((std::string(name) + "_second").c_str(), whole),
        own(whole, log, "w", 2),
        a(first, log, "a", 5),
        b(second, log, "b", 3) {}
  clock_domain whole, first, second;
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

class clock_parts : public fresh_simulation {};

TEST_F(clock_parts, are_called_after_the_domain_and_as_far_as_they_may) {
  machine in_step("in_step"), goes_ahead("ahead"), barred("barred"), stays("stays"), sampled_at("sampled_at"),
      halted("halted");
  for (machine* m : {&goes_ahead, &barred, &stays, &sampled_at, &halted}) m->whole.set_lookahead(&m->ahead);
  barred.ahead.barred = 3;
  stays.a.stays_at = 2;
  sampled_at.observer.from = 3;
  sampled_at.whole.observe(sampled_at.observer);
  machine late("late");
  late.whole.set_lookahead(&late.ahead);
  sc_core::sc_start(1500, sc_core::SC_PS);
  EXPECT_EQ("w1 a1 a2 a3 b1", joined(goes_ahead.log));
  EXPECT_FALSE(goes_ahead.whole.quiet());
  EXPECT_EQ(1u, goes_ahead.whole.cycle());
  EXPECT_EQ(1u, goes_ahead.first.cycle());
  // What comes after the horizon is taken; what comes before is an error of whoever named the horizon.
  late.a.clock.wake_at(4);
  EXPECT_THROW(late.a.clock.wake_at(3), sc_core::sc_report);
  halted.whole.halt();
  sc_core::sc_start(20, sc_core::SC_NS);
  EXPECT_EQ("w1 a1 b1 w2 a2 b2 a3 b3 a4 a5", joined(in_step.log));
  EXPECT_EQ("w1 a1 a2 a3 b1 w2 b2 b3 a4 a5", joined(goes_ahead.log));
  EXPECT_EQ("w1 a1 a2 b1 w2 b2 a3 a4 a5 b3", joined(barred.log)) << "not ahead into cycle 3, and on from there";
  EXPECT_EQ("w1 a1 a2 b1 w2 b2 a3 a4 a5 b3", joined(stays.log)) << "no further than it asked for in cycle 2";
  EXPECT_EQ("w1 a1 a2 b1 w2 b2 a3 b3 a4 a5", joined(sampled_at.log))
      << "in step from the cycle on in which somebody looks";
  EXPECT_EQ("w1 a1 a2 a3 b1", joined(halted.log));
  EXPECT_EQ(10u, goes_ahead.whole.calls());
  EXPECT_TRUE(goes_ahead.whole.quiet());
}

}  // namespace clock_parts_test

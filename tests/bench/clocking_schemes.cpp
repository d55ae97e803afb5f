// SPDX-License-Identifier: MIT
#include "tests/bench/clocking_schemes.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <systemc>

#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/kernel/has_process.h"

namespace heddle::bench {
namespace {

constexpr unsigned sm_count = 80;
constexpr unsigned partitions_per_sm = 4;
const sc_core::sc_time period(1, sc_core::SC_NS);

/// A sub-partition that does about 10 ns of work where the model would schedule a warp.
class partition {
 public:
  partition(unsigned index, load l) : index_(index), load_(l), state_(index + 1) {
    next_ = l == load::asleep ? pause() : l == load::tenth && index % 10 != 0 ? never : 1;
  }
  virtual ~partition() = default;

  /// Works in `cycle` and returns the cycle in which it wants to work next.
  virtual cycle_t work(cycle_t cycle) {
    for (int i = 0; i < 24; ++i) state_ = state_ * 6364136223846793005u + cycle;
    ++activations_;
    return next_ = load_ == load::asleep ? cycle + pause() : cycle + 1;
  }

  [[nodiscard]] cycle_t next() const { return next_; }
  [[nodiscard]] std::uint64_t activations() const { return activations_; }
  [[nodiscard]] std::uint64_t state() const { return state_; }

 private:
  [[nodiscard]] cycle_t pause() const { return 300 + ((state_ ^ index_) >> 33) % 201; }

  unsigned index_;
  load load_;
  std::uint64_t state_;
  cycle_t next_;
  std::uint64_t activations_ = 0;
};

/// Four partitions; a call in a cycle in which none of them is due does nothing.
class multiprocessor {
 public:
  multiprocessor(unsigned index, load l) {
    for (unsigned i = 0; i < partitions_per_sm; ++i) {
      parts_.push_back(std::make_unique<partition>(index * partitions_per_sm + i, l));
    }
  }
  cycle_t work(cycle_t cycle) {
    cycle_t next = never;
    for (const auto& p : parts_) next = std::min(next, p->next() == cycle ? p->work(cycle) : p->next());
    return next;
  }
  [[nodiscard]] cycle_t next() const {
    cycle_t next = never;
    for (const auto& p : parts_) next = std::min(next, p->next());
    return next;
  }
  void add_to(outcome& o) const {
    for (const auto& p : parts_) {
      o.activations += p->activations();
      o.checksum ^= p->state() * (o.activations | 1);
    }
  }

  std::vector<std::unique_ptr<partition>> parts_;
};

using chip = std::vector<std::unique_ptr<multiprocessor>>;

chip make_chip(load l) {
  chip c;
  for (unsigned i = 0; i < sm_count; ++i) c.push_back(std::make_unique<multiprocessor>(i, l));
  return c;
}

/// Simulates and measures; elaboration and the first cycles, in which memory is touched first, are not counted.
outcome measure(const chip& c, cycle_t cycles) {
  // Half a period more, so that the last edge is inside whatever the scheme.
  sc_core::sc_start(period * 500.5);
  const double begin = cpu_seconds();
  sc_core::sc_start(period * static_cast<double>(cycles));
  outcome o;
  o.seconds = cpu_seconds() - begin;
  o.cycles = cycles;
  for (const auto& sm : c) sm->add_to(o);
  return o;
}

cycle_t present_cycle() { return sc_core::sc_time_stamp().value() / period.value(); }

/// A self-timed process around any unit that has work() and next().
template <class unit>
class self_timed_method : public sc_core::sc_module {
 public:
  self_timed_method(sc_core::sc_module_name name, unit& u) : sc_module(name), unit_(&u) {
    HEDDLE_HAS_PROCESS(self_timed_method);
    SC_METHOD(step);
  }

 private:
  void step() {
    const cycle_t now = present_cycle();
    const cycle_t next = unit_->next() == now ? unit_->work(now) : unit_->next();
    if (next == never) {
      next_trigger(forever_);
    } else {
      next_trigger(period * static_cast<double>(next - now));
    }
  }

  unit* unit_;
  sc_core::sc_event forever_;
};

class self_timed_thread : public sc_core::sc_module {
 public:
  self_timed_thread(sc_core::sc_module_name name, multiprocessor& sm) : sc_module(name), sm_(&sm) {
    HEDDLE_HAS_PROCESS(self_timed_thread);
    SC_THREAD(body);
  }

 private:
  void body() {
    cycle_t now = 0;
    for (cycle_t next = sm_->next(); next != never; next = sm_->work(now)) {
      wait(period * static_cast<double>(next - now));
      now = next;
    }
  }

  multiprocessor* sm_;
};

class clock_sensitive_method : public sc_core::sc_module {
 public:
  sc_core::sc_in<bool> clk{"clk"};

  clock_sensitive_method(sc_core::sc_module_name name, partition& p) : sc_module(name), partition_(&p) {
    HEDDLE_HAS_PROCESS(clock_sensitive_method);
    SC_METHOD(step);
    sensitive << clk.pos();
    dont_initialize();
  }

 private:
  void step() {
    if (partition_->next() == ++cycle_) partition_->work(cycle_);
  }

  partition* partition_;
  cycle_t cycle_ = 0;
};

template <class unit>
class wheel_unit : public clocked {
 public:
  wheel_unit(clock_domain& domain, unit& u) : unit_(&u), clock_(domain, *this) {
    if (u.next() != never) clock_.wake_at(u.next());
  }
  void on_cycle(cycle_t cycle) override {
    const cycle_t next = unit_->work(cycle);
    if (next != never) clock_.wake_at(next);
  }

 private:
  unit* unit_;
  clock_port clock_;
};

outcome run_loop(load l, cycle_t cycles) {
  const chip c = make_chip(l);
  cycle_t cycle = 1;
  for (; cycle <= 500; ++cycle) {
    for (const auto& sm : c) sm->work(cycle);
  }
  const double begin = cpu_seconds();
  for (; cycle <= 500 + cycles; ++cycle) {
    for (const auto& sm : c) sm->work(cycle);
  }
  outcome o;
  o.seconds = cpu_seconds() - begin;
  o.cycles = cycles;
  for (const auto& sm : c) sm->add_to(o);
  return o;
}

outcome run_method_per_partition(load l, cycle_t cycles) {
  const chip c = make_chip(l);
  std::vector<std::unique_ptr<self_timed_method<partition>>> processes;
  for (const auto& sm : c) {
    for (const auto& p : sm->parts_) {
      processes.push_back(std::make_unique<self_timed_method<partition>>(sc_core::sc_gen_unique_name("partition"), *p));
    }
  }
  return measure(c, cycles);
}

outcome run_method_per_sm(load l, cycle_t cycles) {
  const chip c = make_chip(l);
  std::vector<std::unique_ptr<self_timed_method<multiprocessor>>> processes;
  for (const auto& sm : c) {
    processes.push_back(std::make_unique<self_timed_method<multiprocessor>>(sc_core::sc_gen_unique_name("sm"), *sm));
  }
  return measure(c, cycles);
}

outcome run_thread_per_sm(load l, cycle_t cycles) {
  const chip c = make_chip(l);
  std::vector<std::unique_ptr<self_timed_thread>> processes;
  for (const auto& sm : c) {
    processes.push_back(std::make_unique<self_timed_thread>(sc_core::sc_gen_unique_name("sm"), *sm));
  }
  return measure(c, cycles);
}

outcome run_clock_sensitive(load l, cycle_t cycles) {
  const chip c = make_chip(l);
  sc_core::sc_clock clk("clk", period, 0.5, period, true);
  std::vector<std::unique_ptr<clock_sensitive_method>> processes;
  for (const auto& sm : c) {
    for (const auto& p : sm->parts_) {
      processes.push_back(std::make_unique<clock_sensitive_method>(sc_core::sc_gen_unique_name("partition"), *p));
      processes.back()->clk(clk);
    }
  }
  return measure(c, cycles);
}

outcome run_wheel(load l, cycle_t cycles, sc_core::sc_clock* outside) {
  const chip c = make_chip(l);
  clock_domain domain("domain", 1000.0);
  if (outside != nullptr) domain.follow(outside->posedge_event());
  std::vector<std::unique_ptr<wheel_unit<partition>>> units;
  for (const auto& sm : c) {
    for (const auto& p : sm->parts_) units.push_back(std::make_unique<wheel_unit<partition>>(domain, *p));
  }
  return measure(c, cycles);
}

outcome run_wheel_per_sm(load l, cycle_t cycles) {
  const chip c = make_chip(l);
  clock_domain domain("domain", 1000.0);
  std::vector<std::unique_ptr<wheel_unit<multiprocessor>>> units;
  for (const auto& sm : c) units.push_back(std::make_unique<wheel_unit<multiprocessor>>(domain, *sm));
  return measure(c, cycles);
}

outcome run_wheel_followed(load l, cycle_t cycles) {
  sc_core::sc_clock clk("clk", period, 0.5, period, true);
  return run_wheel(l, cycles, &clk);
}

}  // namespace

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::vector<scheme> clocking_schemes() {
  return {{"the work alone, in a plain loop", run_loop},
          {"SC_METHOD a partition, next_trigger(time)", run_method_per_partition},
          {"SC_METHOD an SM, 4 calls, next_trigger(time)", run_method_per_sm},
          {"SC_METHOD a partition, sensitive to sc_clock", run_clock_sensitive},
          {"SC_THREAD an SM, 4 calls, wait(time)", run_thread_per_sm},
          {"timing wheel, a unit a partition", [](load l, cycle_t n) { return run_wheel(l, n, nullptr); }},
          {"timing wheel, a unit an SM, 4 calls", run_wheel_per_sm},
          {"timing wheel that follows an sc_clock", run_wheel_followed}};
}

}  // namespace heddle::bench

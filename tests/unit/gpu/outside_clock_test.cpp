// SPDX-License-Identifier: MIT
// A GPU with an external clock: what follows the clock and what keeps its own time, events within a cycle, and the
// message if nothing can progress although the clock runs.
#include <memory>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/gpu_blocks.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/tlm/kernel/has_process.h"
#include "heddle/tlm/port/phase_initiator.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace outside_clock_test {

/// Requests a call in a cycle and records when it came.
struct timed_unit : clocked {
  explicit timed_unit(clock_domain& clock) : port(clock, *this) {}
  void on_cycle(cycle_t cycle) override {
    cycles.push_back(cycle);
    times.push_back(sc_core::sc_time_stamp());
  }
  clock_port port;
  std::vector<cycle_t> cycles;
  std::vector<sc_core::sc_time> times;
};

sc_core::sc_time ns(double n) { return sc_core::sc_time(n, sc_core::SC_NS); }

class outside_clock : public fresh_simulation {};

TEST_F(outside_clock, arrivals_follow_from_the_position_of_now_in_the_cycle) {
  // Edges at 10, 20, 30 ns; the configured frequency implies another period, which is ignored.
  for (const bool plain_signal : {false, true}) {
    restart();
    clock_domain domain("domain", 1000);
    sc_core::sc_clock clock("clock", ns(10), 0.5, ns(10));
    domain.follow(clock.posedge_event(), plain_signal ? sc_core::SC_ZERO_TIME : clock.period());
    sc_core::sc_start(ns(37));
    EXPECT_EQ(domain.cycle(), 3u);
    EXPECT_EQ(domain.arrival(), 4u);
    EXPECT_EQ(domain.arrival(ns(2.9)), 4u) << "39.9 ns: before edge 4";
    EXPECT_EQ(domain.arrival(ns(3)), 5u) << "on edge 4: seen at the next";
    EXPECT_EQ(domain.arrival(ns(12.5)), 5u) << "49.5 ns";
    EXPECT_EQ(domain.arrival(ns(13.5)), 6u) << "50.5 ns";
    EXPECT_EQ(domain.delay_until(5), ns(13));
    EXPECT_EQ(domain.cycles_in(100), 10u);
  }
}

TEST_F(outside_clock, units_are_called_at_the_edges_that_arrivals_name) {
  clock_domain domain("domain", 1000);
  timed_unit unit(domain);
  sc_core::sc_clock clock("clock", ns(10), 0.5, ns(10));
  domain.follow(clock.posedge_event(), clock.period());
  sc_core::sc_start(ns(37));
  unit.port.wake_at(domain.arrival(ns(12.5)));
  sc_core::sc_start(ns(100));
  ASSERT_EQ(unit.times.size(), 1u);
  EXPECT_EQ(unit.times[0], ns(50));
}

/// Acts on the clock's edge itself, before or after the domain's process, depending on the kernel.
struct on_edge : sc_core::sc_module {
  on_edge(sc_core::sc_module_name name, clock_domain& d, const sc_core::sc_event& edge) : sc_module(name), domain(d) {
    HEDDLE_HAS_PROCESS(on_edge);
    SC_METHOD(act);
    sensitive << edge;
    dont_initialize();
  }
  void act() {
    cycles.push_back(domain.cycle());
    arrivals.push_back(domain.arrival());
  }
  clock_domain& domain;
  std::vector<cycle_t> cycles, arrivals;
};

TEST_F(outside_clock, an_arrival_on_an_edge_is_sampled_at_the_next_in_any_process_order) {
  sc_core::sc_clock clock("clock", ns(10), 0.5, ns(10));
  clock_domain domain("domain", 1000);
  on_edge before("before", domain, clock.posedge_event());
  domain.follow(clock.posedge_event(), clock.period());
  on_edge after("after", domain, clock.posedge_event());
  sc_core::sc_start(ns(45));
  EXPECT_EQ(before.cycles, (std::vector<cycle_t>{1, 2, 3, 4}));
  EXPECT_EQ(before.arrivals, (std::vector<cycle_t>{2, 3, 4, 5}));
  EXPECT_EQ(after.cycles, before.cycles);
  EXPECT_EQ(after.arrivals, before.arrivals);
}

// Loads that miss the L1, and then a chain of arithmetic: the cycles of each, and the advance of clock and timer, are
// stored in `out`.
constexpr const char* probe = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry probe(.param .u64 in, .param .u64 out)
{
  .reg .u64 %rd<6>, %t0, %t1;
  .reg .u32 %r<8>, %c<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.global.cg.u32 %r1, [%rd1];
  add.u32 %r2, %r1, 1;
  mov.u64 %t0, %globaltimer;
  mov.u32 %c0, %clock;
  ld.global.cg.u32 %r3, [%rd1];
  add.u32 %r4, %r3, %r2;
  st.global.u32 [%rd2+12], %r4;
  mov.u32 %c1, %clock;
  add.u32 %r5, %r4, %r4;
  add.u32 %r5, %r5, %r5;
  add.u32 %r5, %r5, %r5;
  add.u32 %r5, %r5, %r5;
  st.global.u32 [%rd2+16], %r5;
  mov.u32 %c2, %clock;
  nanosleep.u32 4000;
  mov.u64 %t1, %globaltimer;
  sub.u64 %t1, %t1, %t0;
  sub.u32 %c3, %c2, %c1;
  st.global.u32 [%rd2], %c3;
  sub.u32 %c3, %c1, %c0;
  st.global.u32 [%rd2+4], %c3;
  cvt.u32.u64 %r6, %t1;
  st.global.u32 [%rd2+8], %r6;
  ret;
}
)";

struct probed {
  std::uint32_t chain = 0, load = 0, timer = 0;
  cycle_t cycles = 0;
};

/// Runs the probe; zero: the GPU uses its own clock.
probed run_probe(double period_ns, const std::string& nominal_mhz) {
  const gpu_config config =
      load_config("v100", {"gpu.sm_count=2", "memory.model=fixed", "gpu.core_clock_mhz=" + nominal_mhz});
  gpu g("gpu", config);
  host_driver driver("driver", config);
  driver.host_socket.bind(g.host_socket);
  std::unique_ptr<sc_core::sc_clock> clock;
  // The first edge is one period after the start, as with the GPU's own clock.
  if (period_ns != 0) g.clk(*(clock = std::make_unique<sc_core::sc_clock>("clock", ns(period_ns), 0.5, ns(period_ns))));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  launch_request r;
  r.module = driver.load_module(probe, "probe.ptx");
  r.kernel = "probe";
  const std::uint64_t in = driver.allocate(64), out = driver.allocate(64);
  r.argument(in).argument(out);
  const unsigned n = driver.launch(r);
  for (unsigned turn = 0; turn < 1000 && !driver.finished(n); ++turn) sc_core::sc_start(ns(100));
  EXPECT_TRUE(driver.finished(n));
  EXPECT_EQ(driver.fault(), "");
  std::uint32_t words[3] = {};
  driver.read(out, words, sizeof words);
  return {words[0], words[1], words[2], g.cwd().grids()[0].end_cycle};
}

TEST_F(outside_clock, a_clock_of_the_nominal_frequency_gives_the_cycles_of_a_gpu_that_times_itself) {
  const probed self = run_probe(0, "1000");
  restart();
  const probed outside = run_probe(1, "1000");
  EXPECT_EQ(self.chain, outside.chain);
  EXPECT_EQ(self.load, outside.load);
  EXPECT_EQ(self.timer, outside.timer);
  EXPECT_EQ(self.cycles, outside.cycles);
}

TEST_F(outside_clock, a_slower_clock_slows_the_sms_and_not_the_l2) {
  const probed nominal = run_probe(1, "1000");
  restart();
  const probed half = run_probe(2, "1000");
  EXPECT_EQ(half.chain, nominal.chain) << "arithmetic takes cycles";
  // The L2 latency is a time: half of its core cycles remain, in addition to those that the SM spends.
  EXPECT_LT(half.load + 60, nominal.load);
  EXPECT_GT(half.load, nominal.load / 2);
  // Both slept 4000 ns, according to the timer.
  for (const probed& p : {nominal, half}) {
    EXPECT_GT(p.timer, 4000u);
    EXPECT_LT(p.timer, 6000u);
  }
}

/// A CWD that loses its grids.
class cwd_without_wakes : public grid_distributor {
 public:
  cwd_without_wakes(const char* name, const gpu_config& config) : grid_distributor(name, config) {
    for (auto& socket : cta_socket) socket.bind(unconnected_);
  }
  void submit(std::shared_ptr<const resident_launch>) override { ++unfinished_; }
  void halt() override {}
  bool acts_on_request_only() const override { return true; }

 private:
  struct : phase_initiator<cta_protocol_types> {
    tlm::tlm_sync_enum nb_transport_bw(cta_transaction&, cta_phase&, sc_core::sc_time&) override {
      return tlm::TLM_ACCEPTED;
    }
  } unconnected_;
};

/// Waits for a kernel that never ends.
struct waiting_host : sc_core::sc_module {
  waiting_host(sc_core::sc_module_name name, const gpu_config& config) : sc_module(name), driver("driver", config) {
    HEDDLE_HAS_PROCESS(waiting_host);
    SC_THREAD(run);
  }
  void run() {
    launch_request r;
    r.module = driver.load_module(probe, "probe.ptx");
    r.kernel = "probe";
    const std::uint64_t in = driver.allocate(64);
    r.argument(in).argument(in);
    driver.wait_for(driver.launch(r));
    fault = driver.fault();
    returned = true;
  }
  host_driver driver;
  std::string fault;
  bool returned = false;
};

TEST_F(outside_clock, a_gpu_that_is_stuck_says_so_though_clocks_run) {
  for (const char* kind : {"bound", "beside", "none"}) {
    restart();
    const gpu_config config = load_config("v100", {"gpu.sm_count=2"});
    gpu_blocks own;
    own.cwd = [](const char* name, clock_domain&, const gpu_config& c, grid_observer&) {
      return std::make_unique<cwd_without_wakes>(name, c);
    };
    gpu g("gpu", config, own);
    waiting_host host("host", config);
    host.driver.host_socket.bind(g.host_socket);
    std::unique_ptr<sc_core::sc_clock> clock;
    if (kind != std::string("none")) clock = std::make_unique<sc_core::sc_clock>("clock", ns(1));
    if (kind == std::string("bound")) g.clk(*clock);
    sc_core::sc_start(ns(50000));
    EXPECT_TRUE(host.returned) << kind;
    EXPECT_NE(host.fault.find("nothing in the GPU can go on"), std::string::npos) << kind << ": " << host.fault;
  }
}

TEST_F(outside_clock, a_cwd_that_cannot_preempt_refuses_it) {
  const gpu_config config = load_config("v100", {"gpu.sm_count=2"});
  gpu_blocks own;
  own.cwd = [](const char* name, clock_domain&, const gpu_config& c, grid_observer&) {
    return std::make_unique<cwd_without_wakes>(name, c);
  };
  gpu g("gpu", config, own);
  host_driver driver("driver", config);
  driver.host_socket.bind(g.host_socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::string message;
  try {
    driver.preempt({0}, preemption_mode::drain, 100);
  } catch (const input_error& e) {
    message = e.what();
  }
  EXPECT_EQ(message, "this GPU's CWD cannot preempt SMs");
}

}  // namespace outside_clock_test
}  // namespace heddle::test

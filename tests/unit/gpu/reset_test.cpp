// SPDX-License-Identifier: MIT
// Resets of a GPU by its register and its pin, at any time: afterwards the same kernel gives the right bytes.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu_blocks.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/gpu/host/module_list.h"
#include "heddle/tlm/kernel/has_process.h"
#include "tests/unit/common/foreign_ip.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/memory/memory_stress.h"

namespace heddle::test {
namespace reset_test {

constexpr const char* failing_ptx = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry failing()
{
  .reg .u64 %a;
  mov.u64 %a, 64;
  st.global.u64 [%a], %a;
  ret;
}
)";

/// One GPU, reset again and again.
class reset_bench {
 public:
  explicit reset_bench(const gpu_config& config, stress_size size = {4, 64, 3})
      : size_(size), right_(stress_expected(size)), gpu_("gpu", config), line_("line") {
    gpu_.gpu.reset(line_);
    for (unsigned m = 0; m < gpu_.gpu.memory_socket.size(); ++m) {
      memories_.push_back(std::make_unique<foreign::odd_memory<32>>(("memory" + std::to_string(m)).c_str(), m + 1));
      gpu_.gpu.memory_socket[m].bind(memories_.back()->socket);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  stressed_gpu& operator*() { return gpu_; }
  stressed_gpu* operator->() { return &gpu_; }
  void drive(bool level) { line_.write(level); }

  /// Runs the kernel to its end. Returns its cycles from the doorbell on. It begins in a cycle that is a multiple of
  /// 5040, since the phase of what repeats every few cycles counts.
  cycle_t run() {
    clock_domain& clock = gpu_.gpu.core_clock();
    const sc_core::sc_time begin = clock.time_of((gpu_.gpu.cycle() + 5039) / 5040 * 5040);
    if (begin > sc_core::sc_time_stamp()) sc_core::sc_start(begin - sc_core::sc_time_stamp());
    gpu_.start(size_);
    sc_core::sc_start();
    EXPECT_EQ(gpu_.driver.fault(), "");
    EXPECT_TRUE(gpu_.finished());
    EXPECT_TRUE(gpu_.result() == right_);
    gpu_.gpu.check_invariants();
    const grid_record& g = gpu_.gpu.cwd().grids().back();
    return g.end_cycle - g.doorbell_cycle;
  }
  void start() { gpu_.start(size_); }
  /// Starts the kernel, and what `more` does besides, and resets the GPU after `picoseconds`.
  template <class More>
  void reset_after(std::uint64_t picoseconds, More&& more) {
    start();
    more(gpu_.driver);
    sc_core::sc_start(sc_core::sc_time::from_value(picoseconds));
    reset();
  }
  void reset() {
    EXPECT_TRUE(heddle::reset(gpu_.driver, true));
    sc_core::sc_start();
    ASSERT_FALSE(heddle::reset(gpu_.driver, false));
    EXPECT_EQ(gpu_.driver.fault(), "");
    EXPECT_TRUE(gpu_.gpu.idle());
    gpu_.gpu.check_invariants();
  }

 private:
  stress_size size_;
  stress_result right_;
  std::vector<std::unique_ptr<foreign::odd_memory<32>>> memories_;
  stressed_gpu gpu_;
  sc_core::sc_signal<bool> line_;
};

gpu_config small(std::vector<std::string> more = {}) {
  std::vector<std::string> settings{"gpu.sm_count=2", "memory.channels=2", "l2.size_bytes=65536", "memory.model=fixed"};
  settings.insert(settings.end(), more.begin(), more.end());
  return load_config("gtx1080", settings);
}

class reset_of_a_gpu : public fresh_simulation {
 protected:
  /// Resets at `times` random cycles while the kernel runs, SMs are preempted and the host copies.
  static void at_random_cycles(const gpu_config& config, unsigned times, unsigned seed, bool same_cycles) {
    reset_bench b(config);
    std::mt19937_64 random(seed);
    const cycle_t cycles = b.run();
    b.reset();
    const auto whole =
        static_cast<std::uint64_t>(static_cast<double>(cycles) * 1e6 / config.gpu.core_clock_mhz);  // in picoseconds
    unsigned early = 0;
    for (unsigned i = 0; i < times; ++i) {
      const auto before = b->gpu.cwd().grids().size();
      b.reset_after(random() % (whole + whole / 8), [&](host_driver& driver) {
        if (random() % 2 == 0) {
          sc_core::sc_start(sc_core::sc_time::from_value(random() % (whole / 2)));
          driver.preempt({}, random() % 2 == 0 ? preemption_mode::context_switch : preemption_mode::drain,
                         random() % 2000);
        }
      });
      early += b->gpu.cwd().grids()[before].abandoned;
      const cycle_t again = b.run();
      if (same_cycles) {
        EXPECT_EQ(again, cycles) << "reset " << i;
      }
      if (::testing::Test::HasFailure()) return;
      b.reset();
    }
    EXPECT_GT(early, times / 2) << "most resets end a launch";
  }
};

TEST_F(reset_of_a_gpu, at_random_cycles_leaves_nothing_behind) {
  const std::string clock = "interconnect.clock_mhz=" + std::to_string(small().gpu.core_clock_mhz);
  at_random_cycles(small({clock}), 40, 1, true);
}

TEST_F(reset_of_a_gpu, with_dram_and_its_own_clocks) {
  at_random_cycles(small({"memory.model=dram", "tlm.check=true"}), 30, 2, false);
}

TEST_F(reset_of_a_gpu, waits_for_the_answers_of_memory_outside) {
  at_random_cycles(small({"memory.model=external", "tlm.check=true", "context.area_mib=1024"}), 30, 3, false);
}

class long_reset_of_a_gpu : public reset_of_a_gpu {};

TEST_F(long_reset_of_a_gpu, at_a_thousand_random_cycles) {
  const std::string clock = "interconnect.clock_mhz=" + std::to_string(small().gpu.core_clock_mhz);
  at_random_cycles(small({clock}), 1000, 4, true);
}

TEST_F(reset_of_a_gpu, ends_a_fault_which_refuses_launches) {
  reset_bench b(small());
  const cycle_t cycles = b.run();
  for (unsigned turn = 0; turn < 3; ++turn) {
    if (turn != 0) b.run();
    launch_request r;
    r.module = b->driver.load_module(failing_ptx, "failing.ptx");
    r.kernel = "failing";
    r.grid[0] = 20;
    r.block[0] = 128;
    b.start();  // both fail
    const unsigned failing = b->driver.launch(r);
    sc_core::sc_start();
    EXPECT_FALSE(b->driver.finished(failing));
    EXPECT_NE(b->driver.fault().find("failing"), std::string::npos) << b->driver.fault();
    try {
      static_cast<void>(b->driver.launch(r));
      ADD_FAILURE() << "a launch after a fault was accepted";
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find("until a reset"), std::string::npos) << e.what();
    }
    b.reset();
    EXPECT_TRUE(b->driver.finished(failing)) << "it is over, though without a result";
    EXPECT_THROW(static_cast<void>(b->driver.modules().names(r.module)), input_error) << "modules are lost";
  }
  EXPECT_GT(cycles, 0u);
  b.run();
}

TEST_F(reset_of_a_gpu, by_its_line_lasts_while_the_line_is_high) {
  reset_bench b(small());
  b.run();
  heddle::reset(b->driver, true);
  sc_core::sc_start();
  heddle::reset(b->driver, false);
  b.start();
  sc_core::sc_start(500, sc_core::SC_NS);
  b.drive(true);
  sc_core::sc_start(100, sc_core::SC_US);
  const auto status = [&] {
    std::uint64_t value = 0;
    b->driver.read(host_register::status, &value, sizeof value);
    return value;
  };
  EXPECT_EQ(status(), host_status::busy | host_status::resetting);
  EXPECT_THROW(static_cast<void>(b->driver.load_module(stress_ptx, "stress.ptx")), context_lost);
  b.drive(false);
  sc_core::sc_start();
  EXPECT_EQ(status(), 0u);
  EXPECT_EQ(b->gpu.cwd().grids().back().abandoned, true);
  EXPECT_THROW(static_cast<void>(b->driver.load_module(stress_ptx, "stress.ptx")), context_lost);
  b.reset();
  b.run();
}

/// Host software that recovers from a fault in its thread.
struct recovering_program : sc_core::sc_module {
  stressed_gpu& g;
  bool failed = false, right = false;
  recovering_program(sc_core::sc_module_name name, stressed_gpu& g) : sc_module(name), g(g) {
    HEDDLE_HAS_PROCESS(recovering_program);
    SC_THREAD(run);
  }
  void run() {
    launch_request r;
    r.module = g.driver.load_module(failing_ptx, "failing.ptx");
    r.kernel = "failing";
    g.driver.wait_for(g.driver.launch(r));
    failed = !g.driver.fault().empty();
    recover(g.driver);
    const stress_size size{2, 64, 2};
    g.start(size);
    g.driver.wait_for(1);
    right = g.driver.fault().empty() && g.result() == stress_expected(size);
  }
};

TEST_F(reset_of_a_gpu, recovers_a_driver_in_a_thread) {
  stressed_gpu g("gpu", small());
  recovering_program program("program", g);
  sc_core::sc_start();
  EXPECT_TRUE(program.failed);
  EXPECT_TRUE(program.right);
  EXPECT_TRUE(g.gpu.idle());
  g.gpu.check_invariants();
}

/// Threads wait until the word at `flag` is not 0, then write their number to `out`.
constexpr const char* waiting_ptx = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry waiting(.param .u64 flag, .param .u64 out)
{
  .reg .u64 %f, %o, %a;
  .reg .u32 %t, %v;
  .reg .pred %p;
  ld.param.u64 %f, [flag];
  ld.param.u64 %o, [out];
again:
  ld.volatile.global.u32 %v, [%f];
  setp.eq.u32 %p, %v, 0;
  @%p bra again;
  mov.u32 %t, %tid.x;
  mul.wide.u32 %a, %t, 4;
  add.u64 %a, %a, %o;
  st.global.u32 [%a], %t;
  ret;
}
)";

/// Host software whose GPU is reset by others while it waits for a launch that never ends.
struct surprised_program : sc_core::sc_module {
  enum class waits : std::uint8_t { by_interrupt, by_polling, by_asking };
  enum class reset_by : std::uint8_t { pin, other_host };
  class gpu gpu;
  host_driver driver;
  sc_core::sc_signal<bool> irq{"irq_line"}, pin{"pin"};
  waits how;
  reset_by who;
  std::string lost, lost_again;
  sc_core::sc_time lost_at, again_at, again_ended_at;
  std::uint64_t status = ~std::uint64_t{0};
  bool finished_after = false, right = false;

  surprised_program(sc_core::sc_module_name name, const gpu_config& config, waits how, reset_by who)
      : sc_module(name), gpu("gpu", config), driver("driver", config), how(how), who(who) {
    driver.host_socket.bind(gpu.host_socket);
    gpu.reset(pin);
    gpu.irq(irq);
    if (how == waits::by_interrupt) driver.irq(irq);
    HEDDLE_HAS_PROCESS(surprised_program);
    SC_THREAD(run);
    SC_THREAD(reset_it);
  }

 private:
  unsigned start(std::uint32_t flag) {
    std::uint32_t words[1 + 64] = {flag};
    at_ = driver.allocate(sizeof words);
    driver.write(at_, words, sizeof words);
    launch_request r;
    r.module = driver.load_module(waiting_ptx, "waiting.ptx");
    r.kernel = "waiting";
    r.block[0] = 64;
    r.argument(at_).argument(at_ + 4);
    return driver.launch(r);
  }
  void run() {
    wait(10, sc_core::SC_US);  // the platform's reset at the start is over
    const unsigned endless = start(0);
    try {
      while (how == waits::by_asking && !driver.finished(endless)) wait(1, sc_core::SC_US);
      driver.wait_for(endless);
    } catch (const context_lost& e) {
      lost = e.what();
      lost_at = sc_core::sc_time_stamp();
    }
    driver.read(host_register::status, &status, sizeof status);
    try {
      static_cast<void>(driver.load_module(waiting_ptx, "waiting.ptx"));
    } catch (const context_lost& e) {
      lost_again = e.what();
    }
    recover(driver);
    finished_after = driver.finished(endless);
    wait(10, sc_core::SC_US);  // a reset in between takes nothing
    const unsigned again = start(1);
    again_at = sc_core::sc_time_stamp();
    driver.wait_for(again);
    again_ended_at = sc_core::sc_time_stamp();
    std::uint32_t found[64] = {};
    driver.read(at_ + 4, found, sizeof found);
    right = driver.fault().empty();
    for (std::uint32_t i = 0; i < 64; ++i) right = right && found[i] == i;
  }
  void reset_it() {
    pulse();  // when power comes
    wait(50 - 2, sc_core::SC_US);
    if (who == reset_by::pin) pulse();
    else write_reset();
    while (finished_after == false) wait(100, sc_core::SC_NS);
    pulse();
  }
  void pulse() {
    pin.write(true);
    wait(2, sc_core::SC_US);
    pin.write(false);
  }
  void write_reset() {
    std::uint64_t any = 1;
    tlm::tlm_generic_payload p;
    p.set_command(tlm::TLM_WRITE_COMMAND);
    p.set_address(host_register::reset);
    p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&any));
    p.set_data_length(sizeof any);
    p.set_streaming_width(sizeof any);
    sc_core::sc_time delay;
    auto* const socket = dynamic_cast<tlm::tlm_fw_transport_if<>*>(gpu.host_socket.get_base_export().get_interface());
    ASSERT_NE(socket, nullptr);
    socket->b_transport(p, delay);
    EXPECT_TRUE(p.is_response_ok());
  }

  std::uint64_t at_ = 0;
};

TEST_F(reset_of_a_gpu, by_others_ends_the_wait_of_a_driver) {
  using waits = surprised_program::waits;
  using reset_by = surprised_program::reset_by;
  for (const reset_by who : {reset_by::pin, reset_by::other_host})
    for (const waits how : {waits::by_interrupt, waits::by_polling, waits::by_asking}) {
      restart();
      surprised_program p("program", small({"gpu.watchdog_cycles=0"}), how, who);
      sc_core::sc_start(1, sc_core::SC_MS);
      EXPECT_EQ(p.lost.rfind("program.driver: the context is lost: ", 0), 0u) << p.lost;
      EXPECT_EQ(p.lost_again, p.lost);
      EXPECT_GT(p.lost_at, sc_core::sc_time(50, sc_core::SC_US));
      EXPECT_LT(p.lost_at, sc_core::sc_time(how == waits::by_interrupt ? 53 : 55, sc_core::SC_US));
      EXPECT_EQ(p.status, 0u);
      EXPECT_TRUE(p.finished_after);
      EXPECT_TRUE(p.right);
      EXPECT_GT(p.again_ended_at, p.again_at);
      EXPECT_LT(p.again_ended_at - p.again_at, sc_core::sc_time(3, sc_core::SC_US)) << "the next launch interrupts";
      EXPECT_TRUE(p.gpu.idle());
      p.gpu.check_invariants();
    }
}

}  // namespace reset_test
}  // namespace heddle::test

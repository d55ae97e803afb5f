// SPDX-License-Identifier: MIT
// The driver with unusual paths to the GPU: slow, shared by threads, at another address, with a missing interrupt; and
// its responses to wrong calls.
#include "heddle/gpu/host/host_driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/launch_check.h"
#include "heddle/gpu/host/module_list.h"
#include "heddle/tlm/kernel/has_process.h"
#include "host_driver_bench.h"
#include "tests/unit/common/store_kernel.h"

namespace heddle {
namespace host_driver_cases {

using namespace host_driver_bench;

/// A bus with `latency` per access, by waiting or by annotation. The GPU is at `base`.
struct slow_bus : sc_core::sc_module {
  slow_bus(sc_core::sc_module_name name, bool waits, std::uint64_t base) : sc_module(name), waits_(waits), base_(base) {
    in.register_b_transport(this, &slow_bus::b_transport);
  }
  tlm_utils::simple_target_socket<slow_bus> in{"in"};
  tlm_utils::simple_initiator_socket<slow_bus> out{"out"};
  sc_core::sc_time latency{10, sc_core::SC_NS};
  unsigned accesses = 0;
  bool from_methods = false;

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    ++accesses;
    from_methods |= sc_core::sc_get_current_process_handle().proc_kind() != sc_core::SC_THREAD_PROC_;
    if (p.get_address() < base_) return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (waits_) wait(latency);
    p.set_address(p.get_address() - base_);
    out->b_transport(p, delay);
    p.set_address(p.get_address() + base_);
    if (!waits_) delay += latency;
  }
  bool waits_;
  std::uint64_t base_;
};

/// Runs a function in a thread.
struct thread : sc_core::sc_module {
  thread(sc_core::sc_module_name name, std::function<void()> body) : sc_module(name), body_(std::move(body)) {
    HEDDLE_HAS_PROCESS(thread);
    SC_THREAD(run);
  }
  bool ended = false;

 private:
  void run() {
    body_();
    ended = true;
  }
  std::function<void()> body_;
};

/// Stores 0 … 31 in a new buffer; true if they are there afterwards.
bool stores(host_driver& driver, unsigned stream = 0) {
  launch_request r;
  r.module = driver.load_module(store_kernel, "store.ptx");
  r.kernel = "store";
  r.stream = stream;
  r.block[0] = 32;
  const std::uint64_t a = driver.allocate(128);
  std::uint32_t seen[32] = {};
  driver.fill(a, 0xff, sizeof seen);
  r.argument(a);
  driver.wait_for(driver.launch(r));
  driver.read(a, seen, sizeof seen);
  bool right = driver.fault().empty();
  for (std::uint32_t i = 0; i < 32; ++i) right = right && seen[i] == i;
  return right;
}

TEST_F(host_driver_test, a_bus_that_takes_its_time_is_waited_for_with_and_without_an_interrupt) {
  for (const bool waits : {false, true})
    for (const bool interrupts : {false, true}) {
      restart();
      gpu g("gpu", small());
      host_driver driver("driver", g.config(), host_driver::default_first_address, 0x4000'0000);
      slow_bus bus("bus", waits, 0x4000'0000);
      driver.host_socket.bind(bus.in);
      bus.out.bind(g.host_socket);
      sc_core::sc_signal<bool> irq("irq");
      if (interrupts) {
        g.irq(irq);
        driver.irq(irq);
      }
      bool right = false;
      sc_core::sc_time took;
      unsigned accesses = 0;
      thread host("host", [&] {
        right = stores(driver) && stores(driver);
        took = sc_core::sc_time_stamp();
        accesses = bus.accesses;
      });
      sc_core::sc_start(1, sc_core::SC_MS);
      EXPECT_TRUE(host.ended);
      EXPECT_TRUE(right);
      EXPECT_FALSE(bus.from_methods) << "only threads may call what may wait";
      EXPECT_GE(took, bus.latency * (accesses - 1)) << "every access takes its time";
    }
}

TEST_F(host_driver_test, threads_share_a_driver_and_a_killed_one_blocks_no_other) {
  gpu g("gpu", small());
  host_driver driver("driver", g.config());
  slow_bus bus("bus", true, 0);
  driver.host_socket.bind(bus.in);
  bus.out.bind(g.host_socket);
  sc_core::sc_signal<bool> irq("irq");
  g.irq(irq);
  driver.irq(irq);
  unsigned right = 0;
  const auto work = [&](unsigned stream) {
    for (unsigned round = 0; round < 4; ++round) right += stores(driver, stream);
  };
  sc_core::sc_process_handle victim, queued;
  thread first("first", [&] { work(0); });
  thread second("second", [&] { work(1); });
  thread third("third", [&] {
    victim = sc_core::sc_get_current_process_handle();
    for (;;) driver.fill(driver.allocate(64), 1, 64);
  });
  thread fourth("fourth", [&] {
    queued = sc_core::sc_get_current_process_handle();
    for (;;) driver.fault();
  });
  thread killer("killer", [&] {
    sc_core::wait(777, sc_core::SC_NS);
    victim.kill();
    sc_core::wait(777, sc_core::SC_NS);
    queued.kill();
  });
  sc_core::sc_start(2, sc_core::SC_MS);
  EXPECT_TRUE(first.ended && second.ended);
  EXPECT_EQ(right, 8u);
}

TEST_F(host_driver_test, calls_from_outside_threads_do_not_break_into_a_threads_call) {
  gpu g("gpu", small());
  host_driver driver("driver", g.config());
  slow_bus bus("bus", true, 0);
  driver.host_socket.bind(bus.in);
  bus.out.bind(g.host_socket);
  thread host("host", [&] { EXPECT_TRUE(stores(driver)); });
  sc_core::sc_start(25, sc_core::SC_NS);
  EXPECT_NE(refusal([&] { static_cast<void>(driver.allocate(64)); }).find("in the middle of a call of host.run"),
            std::string::npos);
  EXPECT_FALSE(driver.finished(0));
  EXPECT_EQ(driver.fault(), "");
  EXPECT_NE(refusal([&] { driver.wait_for(0); }).find("SC_THREAD"), std::string::npos);
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_TRUE(host.ended);
}

TEST_F(host_driver_test, an_interrupt_that_is_bound_at_one_end_alone_is_reported_and_not_waited_for_for_ever) {
  gpu g("gpu", small());
  host_driver driver("driver", g.config());
  driver.host_socket.bind(g.host_socket);
  sc_core::sc_signal<bool> irq("irq");
  driver.irq(irq);
  bool right = false;
  thread host("host", [&] { right = stores(driver) && stores(driver); });
  sc_core::sc_report_handler::set_actions("/heddle/driver", sc_core::SC_DO_NOTHING);
  const int before = sc_core::sc_report_handler::get_count("/heddle/driver");
  sc_core::sc_start();
  EXPECT_TRUE(right);
  EXPECT_EQ(sc_core::sc_report_handler::get_count("/heddle/driver") - before, 1);
}

// At most 8 x 4 threads, in any shape; or exactly 16, with dimensions that are not given being 1.
TEST_F(host_driver_test, blocks_are_held_against_what_the_kernel_was_compiled_for) {
  isa::program most, required;
  most.kernel = required.kernel = "k";
  most.registers = required.registers = 16;
  most.max_threads[0] = 8;
  most.max_threads[1] = 4;
  required.required_threads[0] = 16;
  const gpu_config config = load_config("gtx1080");
  const auto answer = [&](const isa::program& p, std::uint32_t x, std::uint32_t y) {
    const std::uint32_t grid[3] = {1, 1, 1}, block[3] = {x, y, 1};
    try {
      check_launch(config, p, grid, block, 0, -1);
    } catch (const input_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(answer(most, 32, 1), "");
  EXPECT_EQ(answer(most, 4, 8), "");
  EXPECT_NE(answer(most, 33, 1).find("33 threads, the kernel was compiled for at most 32 (.maxntid)"),
            std::string::npos)
      << answer(most, 33, 1);
  EXPECT_EQ(answer(required, 16, 1), "");
  EXPECT_NE(answer(required, 16, 2).find("16x2x1 threads, the kernel requires 16x1x1 (.reqntid)"), std::string::npos)
      << answer(required, 16, 2);
  EXPECT_NE(answer(required, 15, 1), "");
}

// More than the driver writes at once, and not a multiple of it.
TEST_F(host_driver_test, fills_all_of_a_large_range_and_no_byte_more) {
  const gpu_config config = load_config("gtx1080", {"gpu.sm_count=1", "memory.model=fixed"});
  gpu g("gpu", config);
  host_driver driver("driver", config);
  driver.host_socket.bind(g.host_socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const std::size_t bytes = (std::size_t{5} << 19) + 3;
  const std::uint64_t at = driver.allocate(bytes + 1);
  driver.fill(at, 0x11, bytes + 1);
  driver.fill(at, 0xab, bytes);
  std::vector<std::uint8_t> now(bytes + 1);
  driver.read(at, now.data(), now.size());
  EXPECT_EQ(now.front(), 0xab);
  EXPECT_EQ(std::count(now.begin(), now.end(), 0xab), static_cast<std::ptrdiff_t>(bytes));
  EXPECT_EQ(now.back(), 0x11);
}

TEST_F(host_driver_test, wrong_calls_are_input_errors) {
  gpu g("gpu", small());
  host_driver driver("driver", g.config());
  driver.host_socket.bind(g.host_socket);
  std::vector<std::string> refusals;
  thread host("host", [&] {
    EXPECT_TRUE(stores(driver));
    std::uint64_t word = 0;
    launch_request r;
    r.kernel = "store";
    r.block[0] = 32;
    r.argument(word);
    r.module = 7;
    refusals.push_back(refusal([&] { driver.launch(r); }));
    refusals.push_back(refusal([&] { driver.check(r); }));
    refusals.push_back(refusal([&] { static_cast<void>(driver.modules().names(1)); }));
    refusals.push_back(refusal([&] { driver.read(0xf00'0000, &word, 8); }));
    refusals.push_back(refusal([&] { driver.write(0x30, &word, 8); }));
    refusals.push_back(refusal([&] { driver.wait_for(99); }));
    refusals.push_back(refusal([&] { driver.save_contexts_at(0x2000'0001); }));
    refusals.push_back(refusal([&] { driver.save_contexts_at(0x1000); }));
    r.module = 0;
    r.parameters.clear();
    r.argument(driver.allocate(128));
    const unsigned n = driver.launch(r);
    refusals.push_back(refusal([&] { driver.save_contexts_at(0x2000'0000); }));
    driver.wait_for(n);
    driver.save_contexts_at(0x2000'0000);
    EXPECT_TRUE(stores(driver));
  });
  sc_core::sc_start();
  ASSERT_TRUE(host.ended);
  const char* const expected[] = {"no module 7", "no module 7", "no module 1", "0xf000000", "0x30",
                                  "launch 99",   "536870913",   "4096",        "running"};
  ASSERT_EQ(refusals.size(), std::size(expected));
  for (std::size_t i = 0; i < refusals.size(); ++i)
    EXPECT_NE(refusals[i].find(expected[i]), std::string::npos) << refusals[i];
}

}  // namespace host_driver_cases
}  // namespace heddle

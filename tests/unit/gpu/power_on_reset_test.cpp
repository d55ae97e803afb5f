// SPDX-License-Identifier: MIT
// A GPU that is in reset when a driver begins, as when a platform's power comes, and commands during a reset.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/tlm/kernel/has_process.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/common/store_kernel.h"

namespace heddle {
namespace power_on_reset_test {

namespace reg = host_register;

gpu_config small() { return load_config("gtx1080", {"gpu.sm_count=1", "memory.model=fixed"}); }

/// A GPU whose reset line is high from the start, and host software that begins at once.
struct platform : sc_core::sc_module {
  class gpu gpu;
  host_driver driver;
  sc_core::sc_signal<bool> irq{"irq_line"}, line{"reset_line", true};
  bool flushes = false;  // before anything else
  sc_core::sc_time began;
  bool right = false;

  platform(sc_core::sc_module_name name, bool interrupts, sc_core::sc_time high)
      : sc_module(name), gpu("gpu", small()), driver("driver", small()), high_(high) {
    driver.host_socket.bind(gpu.host_socket);
    gpu.reset(line);
    gpu.irq(irq);
    if (interrupts) driver.irq(irq);
    HEDDLE_HAS_PROCESS(platform);
    SC_THREAD(run);
    SC_THREAD(release);
  }
  [[nodiscard]] std::uint64_t read(std::uint64_t address) {
    std::uint64_t value = 0;
    driver.read(address, &value, sizeof value);
    return value;
  }
  void write(std::uint64_t address, std::uint64_t value) { driver.write(address, &value, sizeof value); }

 private:
  void run() {
    if (flushes) driver.flush_caches(true);
    const std::uint64_t out = driver.allocate(128);
    began = sc_core::sc_time_stamp();
    driver.fill(out, 0xff, 128);
    launch_request r;
    r.module = driver.load_module(store_kernel, "store.ptx");
    r.kernel = "store";
    r.block[0] = 32;
    r.argument(out);
    while (driver.flush_caches(false)) wait(1, sc_core::SC_US);
    driver.wait_for(driver.launch(r));
    std::uint32_t found[32] = {};
    driver.read(out, found, sizeof found);
    right = driver.fault().empty();
    for (std::uint32_t i = 0; i < 32; ++i) right = right && found[i] == i;
  }
  void release() {
    wait(high_);
    line.write(false);
  }
  sc_core::sc_time high_;
};

class power_on_reset : public fresh_simulation {
 protected:
  power_on_reset() {
    sc_core::sc_report_handler::set_actions("/heddle/driver", sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
  }
  ~power_on_reset() override {
    sc_core::sc_report_handler::set_actions("/heddle/driver", sc_core::SC_WARNING, sc_core::SC_UNSPECIFIED);
  }
  static int warnings() { return sc_core::sc_report_handler::get_count("/heddle/driver", sc_core::SC_WARNING); }
};

TEST_F(power_on_reset, a_driver_waits_for_its_end) {
  const int before = warnings();
  for (const bool interrupts : {true, false})
    for (const bool flushes : {true, false}) {
      restart();
      const sc_core::sc_time high(5, sc_core::SC_US);
      platform p("p", interrupts, high);
      p.flushes = flushes;
      sc_core::sc_start(100, sc_core::SC_US);
      EXPECT_TRUE(p.right) << interrupts << flushes;
      EXPECT_GT(p.began, high);
      EXPECT_LT(p.began, high + sc_core::sc_time(2, sc_core::SC_US));
      EXPECT_EQ(p.read(reg::resets), 1u);
      p.gpu.check_invariants();
    }
  EXPECT_EQ(warnings(), before);
}

TEST_F(power_on_reset, a_driver_that_waits_long_says_so_once) {
  for (const bool interrupts : {true, false}) {
    restart();
    const int before = warnings();
    platform p("p", interrupts, sc_core::sc_time(2, sc_core::SC_MS));
    sc_core::sc_start(3, sc_core::SC_MS);
    EXPECT_TRUE(p.right);
    EXPECT_EQ(warnings(), before + 1);
  }
}

struct held_gpu {
  class gpu gpu {
    "gpu", small()
  };
  host_driver driver{"driver", small()};
  sc_core::sc_signal<bool> line{"reset_line", true};
  held_gpu() {
    driver.host_socket.bind(gpu.host_socket);
    gpu.reset(line);
    sc_core::sc_start(1, sc_core::SC_US);
  }
  std::string refusal() {
    try {
      static_cast<void>(driver.allocate(16));
      return "";
    } catch (const input_error& e) {
      return e.what();
    }
  }
  std::uint64_t read(std::uint64_t address) {
    std::uint64_t value = 0;
    driver.read(address, &value, sizeof value);
    return value;
  }
  void write(std::uint64_t address, std::uint64_t value) { driver.write(address, &value, sizeof value); }
};

TEST_F(power_on_reset, calls_outside_threads_are_refused_until_its_end) {
  held_gpu g;
  EXPECT_EQ(g.refusal(),
            "driver: the GPU is in reset, expected a call in an SC_THREAD, which waits for the end, or after it");
  g.line.write(false);
  sc_core::sc_start();
  EXPECT_EQ(g.refusal(), "");
}

TEST_F(power_on_reset, commands_during_a_reset_are_rejected_as_the_page_says) {
  held_gpu g;
  const auto rejected = [&](std::uint64_t address, std::uint64_t value) {
    g.write(address, value);
    std::string why(g.read(reg::message_bytes), '\0');
    if (!why.empty()) g.driver.read(reg::message, why.data(), why.size());
    return g.read(reg::error) == 1 && why.find("the GPU is being reset") != std::string::npos;
  };
  g.write(reg::map_base, 0x1000'0000);
  g.write(reg::map_bytes, 0x1000);
  EXPECT_TRUE(rejected(reg::map_command, 1));
  EXPECT_TRUE(rejected(reg::map_command, 2));
  EXPECT_TRUE(rejected(reg::context_area, 0x8000'0000));
  EXPECT_TRUE(rejected(reg::flush_caches, 1));
  for (const std::uint32_t command : {1, 2, 3, 4, 5, 6, 7}) {
    g.driver.write(0x1000'0000, &command, sizeof command);
    EXPECT_TRUE(rejected(reg::command, 0x1000'0000)) << command;
  }
  g.write(reg::reset, 1);
  EXPECT_EQ(g.read(reg::error), 0u);
  g.line.write(false);
  sc_core::sc_start();
  EXPECT_EQ(g.read(reg::resets), 1u) << "the one in the reset is no other one";
  EXPECT_EQ(g.read(reg::map_base), 0u);
  g.write(reg::map_base, 0x1000'0000);
  g.write(reg::map_bytes, 0x1000);
  g.write(reg::map_command, 1);
  EXPECT_EQ(g.read(reg::error), 0u) << "nothing was mapped";
}

TEST_F(power_on_reset, a_lost_context_takes_no_mappings) {
  held_gpu g;
  g.line.write(false);
  sc_core::sc_start();
  const std::uint64_t address = g.driver.allocate(16);
  for (const bool high : {true, false}) {
    g.line.write(high);
    sc_core::sc_start(10, sc_core::SC_US);
    EXPECT_THROW(static_cast<void>(g.driver.allocate(16)), context_lost);
    EXPECT_THROW(g.driver.map(0x5000'0000, 16), context_lost);
    EXPECT_THROW(g.driver.unmap(address), context_lost);
  }
}

}  // namespace power_on_reset_test
}  // namespace heddle

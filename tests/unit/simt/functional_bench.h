// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle {

/// A GPU with its driver, on which launches are simulated in detail or executed functionally.
class functional_bench : public fresh_simulation, private print_observer {
 protected:
  /// Starts a simulation with this GPU, reduced in size, with empty memory.
  void make(const std::string& gpu, std::vector<std::string> overrides = {}) {
    parts_.reset();
    restart();
    overrides.insert(overrides.begin(), {"gpu.sm_count=4", "memory.model=fixed", "memory.latency_cycles=20"});
    parts_ = std::make_unique<parts>(load_config(gpu, overrides));
    parts_->driver.observe(*this);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    text.clear();
  }

  host_driver& driver() { return parts_->driver; }
  gpu& chip() { return parts_->chip; }

  /// Runs the launch to its end; returns the program's fault, "" if there is none.
  std::string run(const launch_request& r, bool functionally) {
    driver().check(r);
    if (functionally) {
      instructions = driver().execute(r);
      return driver().fault();
    }
    const unsigned number = driver().launch(r);
    while (!driver().finished(number)) {
      const std::string fault = driver().fault();
      if (!fault.empty()) return fault;
      if (!sc_core::sc_pending_activity()) return "nothing goes on";
      sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US), sc_core::SC_EXIT_ON_STARVATION);
    }
    return "";
  }

  launch_request request(const std::string& ptx, const std::string& kernel, std::uint32_t grid, std::uint32_t block) {
    launch_request r;
    r.module = driver().load_module(ptx, "test.ptx");
    r.kernel = kernel;
    r.grid[0] = grid;
    r.block[0] = block;
    return r;
  }

  template <class T>
  std::uint64_t buffer(const std::vector<T>& contents) {
    const std::uint64_t at = driver().allocate(contents.size() * sizeof(T));
    driver().write(at, contents.data(), contents.size() * sizeof(T));
    return at;
  }
  template <class T>
  std::vector<T> read(std::uint64_t address, std::size_t count) {
    std::vector<T> v(count);
    driver().read(address, v.data(), count * sizeof(T));
    return v;
  }

  std::string text;  // printed by kernels
  std::uint64_t instructions = 0;

 private:
  void printed(const std::string& more) override { text += more; }
  struct parts {
    explicit parts(const gpu_config& config) : chip("gpu", config), driver("driver", config), irq("irq") {
      driver.host_socket.bind(chip.host_socket);
      chip.irq(irq);
      driver.irq(irq);
    }
    gpu chip;
    host_driver driver;
    sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> irq;
  };
  std::unique_ptr<parts> parts_;
};

}  // namespace heddle

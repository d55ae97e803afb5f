// SPDX-License-Identifier: MIT
#include "machine.h"

#include <algorithm>

#include "heddle/config/config.h"
#include "heddle/config/error.h"

namespace heddle::conformance {

namespace {

/// Ended simulations are kept until the process exits, because SystemC objects may still refer to them.
void restart_simulation() {
  static std::vector<std::unique_ptr<sc_core::sc_simcontext>> contexts;
  contexts.push_back(std::make_unique<sc_core::sc_simcontext>());
  sc_core::sc_curr_simcontext = contexts.back().get();
  sc_core::sc_default_global_context = contexts.back().get();
}

gpu_config small(const std::string& name, unsigned sms) {
  return load_config(name, {"gpu.sm_count=" + std::to_string(sms), "memory.model=fixed", "memory.latency_cycles=20"});
}

}  // namespace

struct machine::parts {
  // Driver and GPU parse and lower each module once between them.
  explicit parts(const gpu_config& config)
      : gpu("gpu", config),
        driver("driver", config, host_driver::default_first_address, 0, &gpu.parsed_modules()),
        irq("irq") {
    driver.host_socket.bind(gpu.host_socket);
    gpu.irq(irq);
    driver.irq(irq);
  }
  class gpu gpu;
  host_driver driver;
  sc_core::sc_signal<bool> irq;
};

machine::machine(const std::string& gpu_name, bool functional, unsigned sms) : functional_(functional) {
  restart_simulation();
  parts_ = std::make_unique<parts>(small(gpu_name, sms));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

machine::~machine() = default;

std::uint64_t machine::allocate(std::uint64_t bytes) { return parts_->driver.allocate(bytes); }

void machine::write(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
  parts_->driver.write(address, bytes.data(), bytes.size());
}

std::vector<std::uint8_t> machine::read(std::uint64_t address, std::size_t bytes) {
  std::vector<std::uint8_t> v(bytes);
  parts_->driver.read(address, v.data(), bytes);
  return v;
}

unsigned machine::load(const std::string& ptx, const std::string& name) {
  return parts_->driver.load_module(ptx, name);
}

namespace {

launch_request request_of(unsigned module, const std::string& kernel, const scalar_launch& launch,
                          unsigned max_registers) {
  launch_request r;
  r.module = module;
  r.kernel = kernel;
  std::copy(launch.grid, launch.grid + 3, r.grid);
  std::copy(launch.block, launch.block + 3, r.block);
  r.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  r.max_registers = max_registers;
  r.parameters = launch.parameters;
  return r;
}

}  // namespace

void machine::execute(unsigned module, const std::string& kernel, const scalar_launch& launch, unsigned max_registers) {
  const launch_request r = request_of(module, kernel, launch, max_registers);
  parts_->driver.check(r);
  parts_->driver.execute(r);
  const std::string fault = parts_->driver.fault();
  if (!fault.empty()) throw program_error(fault);
}

unsigned machine::run(unsigned module, const std::string& kernel, const scalar_launch& launch, unsigned max_registers,
                      const std::vector<timed_preemption>& preemptions) {
  if (functional_) {
    execute(module, kernel, launch, max_registers);
    return 0;
  }
  const launch_request r = request_of(module, kernel, launch, max_registers);
  parts_->driver.check(r);
  const unsigned number = parts_->driver.launch(r);
  unsigned requested = 0;
  const auto is_over = [&] { return parts_->driver.finished(number) || !parts_->driver.fault().empty(); };
  for (const timed_preemption& p : preemptions) {
    if (sc_core::sc_pending_activity()) sc_core::sc_start(p.after, sc_core::SC_EXIT_ON_STARVATION);
    if (is_over()) break;
    parts_->driver.preempt(p.sms, p.mode, p.resume_after);
    ++requested;
  }
  while (!parts_->driver.finished(number)) {
    const std::string fault = parts_->driver.fault();
    if (!fault.empty()) throw program_error(fault);
    if (!sc_core::sc_pending_activity())
      throw program_error("nothing can go on, but kernel '" + kernel + "' has not ended");
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US), sc_core::SC_EXIT_ON_STARVATION);
  }
  return requested;
}

}  // namespace heddle::conformance

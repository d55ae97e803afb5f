// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/tlm/protocol/preemption_mode.h"
#include "scalar_reference.h"

namespace heddle::conformance {

/// A preemption during a run: so long after the one before, or after the launch.
struct timed_preemption {
  sc_core::sc_time after;
  std::vector<unsigned> sms;  // none: all
  preemption_mode mode{};
  std::uint64_t resume_after = 0;  // cycles
};

/// A simulated GPU with its driver, in this process. There is one at a time: constructing another one starts a new
/// simulation.
class machine {
 public:
  /// A shipped GPU with few SMs and fixed memory latency, for short tests. `functional`: kernels are executed in zero
  /// simulated time.
  explicit machine(const std::string& gpu_name, bool functional = false, unsigned sms = 2);
  ~machine();

  std::uint64_t allocate(std::uint64_t bytes);
  void write(std::uint64_t address, const std::vector<std::uint8_t>& bytes);
  std::vector<std::uint8_t> read(std::uint64_t address, std::size_t bytes);

  unsigned load(const std::string& ptx, const std::string& name);
  /// Runs one kernel to its end. Throws input_error if the GPU or the lowering rejects it, program_error if it fails;
  /// after a program_error or internal_error the machine cannot be used any more.
  /// Returns how many of the preemptions were requested while the kernel ran.
  unsigned run(unsigned module, const std::string& kernel, const scalar_launch& launch, unsigned max_registers = 0,
               const std::vector<timed_preemption>& preemptions = {});
  /// The same in zero simulated time, whatever the machine was made for.
  void execute(unsigned module, const std::string& kernel, const scalar_launch& launch, unsigned max_registers = 0);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
  bool functional_;
};

}  // namespace heddle::conformance

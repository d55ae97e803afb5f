// SPDX-License-Identifier: MIT
// Models: the host's program: rings the doorbell for each launch of a job, stream by stream.
// Sockets: none; it calls the driver.
// One cycle: none; it wakes when a launch completes and at the cycles that launches wait for.
// Parameters: the job and the core clock.
#pragma once

#include <cstdint>
#include <exception>
#include <systemc>
#include <vector>

#include "heddle/gpu/host/host_driver.h"
#include "testbench/run/core_time.h"
#include "testbench/run/stream.h"

namespace heddle::testbench {

class host_program : public sc_core::sc_module {
 public:
  host_program(sc_core::sc_module_name name, host_driver& driver, const core_time& clock);

  /// Starts the job at the present time; the simulation is paused when it has ended. The job must outlive the program.
  void start(const job& j, const device_job& device);
  bool ended() const { return ended_; }
  /// Rethrows what ended the job early: program_error with the GPU's fault.
  void rethrow() const;
  /// Position in the job of each launch, by the driver's number.
  const std::vector<unsigned>& positions() const { return positions_; }
  /// Preemptions whose cycle has not come: so many of the last ones by cycle.
  std::size_t preemptions_left() const { return preemptions_.size() - next_preemption_; }
  /// A kernel that has been launched and has not finished; null: none.
  const operation* waiting_for() const;

 private:
  void run();
  void run_streams();
  void preempt(std::uint64_t now);

  // One process for all streams, so that the order of launches made at one time does not depend on the order in which
  // the kernel runs processes.
  host_driver& driver_;
  const core_time& clock_;
  std::vector<stream> streams_;
  std::vector<unsigned> positions_;
  std::vector<preemption> preemptions_;  // by cycle
  std::size_t next_preemption_ = 0;
  sc_core::sc_event start_;
  std::exception_ptr error_;
  bool ended_ = false;
};

}  // namespace heddle::testbench

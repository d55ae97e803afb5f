// SPDX-License-Identifier: MIT
// Models: the host's program, which rings the doorbell for each launch of a job, stream by stream.
// Sockets: none; it calls the driver.
// One cycle: none; it wakes when a launch completes and at the start cycles of launches.
// Parameters: the job and the core clock.
#pragma once

#include <cstdint>
#include <exception>
#include <systemc>
#include <vector>

#include "heddle/gpu/host/host_driver.h"
#include "testbench/run/cold_start.h"
#include "testbench/run/core_time.h"
#include "testbench/run/stream.h"

namespace heddle::testbench {

class host_program : public sc_core::sc_module {
 public:
  /// `cold`: launches begin one at a time, with empty caches.
  host_program(sc_core::sc_module_name name, host_driver& driver, const core_time& clock, bool cold);

  /// Starts the job at the present time. The simulation is paused when the job has ended. The job must outlive this
  /// object.
  void start(const job& j, const device_job& device, sanitizer* checks);
  /// The same for a job whose launches the GPU already knows, from where `image` says that it stood.
  void go_on(const job& j, const device_job& device, state_image& image);
  /// Writes where the job stands.
  void exchange(state_image& image);
  /// The launches that the job has made, in the order of the GPU's numbers.
  [[nodiscard]] std::vector<const operation*> launched() const;
  [[nodiscard]] bool ended() const { return ended_; }
  /// Rethrows the error that ended the job early: program_error with the GPU's fault.
  void rethrow() const;
  /// The position in the job of each launch, indexed by the driver's launch number.
  [[nodiscard]] const std::vector<unsigned>& positions() const { return positions_; }
  /// The number of preemptions whose cycle has not been reached.
  [[nodiscard]] std::size_t preemptions_left() const { return preemptions_.size() - next_preemption_; }
  /// A kernel that is launched and not finished; null: none.
  [[nodiscard]] const operation* waiting_for() const;

 private:
  void make_streams(const job& j, const device_job& device, sanitizer* checks);
  void run();
  void run_streams();
  void preempt(std::uint64_t now);

  // One process serves all streams, so the order of launches at one time does not depend on the order in which the
  // SystemC kernel runs processes.
  host_driver& driver_;
  const core_time& clock_;
  cold_start starts_;
  std::vector<stream> streams_;
  std::vector<unsigned> positions_;
  std::vector<preemption> preemptions_;  // ordered by cycle
  std::size_t next_preemption_ = 0;
  const job* job_ = nullptr;
  sc_core::sc_event start_;
  std::exception_ptr error_;
  bool ended_ = false;
};

}  // namespace heddle::testbench

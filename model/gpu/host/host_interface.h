// SPDX-License-Identifier: MIT
// Models: the GPU's interface to its host: registers, command descriptors in device memory, completions, interrupt.
// Sockets: the gpu's host_socket (LT target) is bound to it; memory_socket (initiator) accesses device memory for the
//   host.
// One cycle: none; it acts on accesses and on reports of the CWD.
// Parameters: [gpu], limits of [sm]. Source: docs/library/host_interface.md.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/cwd/sampled_l2.h"
#include "heddle/gpu/host/block_feed.h"
#include "heddle/gpu/host/host_memory.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/gpu/host/host_supervisor.h"
#include "heddle/gpu/host/idempotence.h"
#include "heddle/gpu/host/launch_builder.h"
#include "heddle/gpu/host/loaded_modules.h"
#include "heddle/gpu/host/print_observer.h"
#include "heddle/gpu/host/recorded_kernel.h"
#include "heddle/gpu/host/runtime/device_services.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/port/blocking_target.h"
#include "heddle/tlm/protocol/byte_transfer.h"

namespace heddle {

class sanitizer;

class host_interface : public sc_core::sc_module,
                       public blocking_target<>,
                       public grid_observer,
                       private services_host {
 public:
  host_interface(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config);

  tlm::tlm_initiator_socket<32> memory_socket;  // debug transport only: loads and reads images
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>* irq = nullptr;

  /// The device memory that kernels may access.
  [[nodiscard]] const address_ranges& ranges() const { return memory_.ranges(); }
  /// The L2 learns what blocks access that are executed without timing.
  void connect(grid_distributor& cwd, sampled_l2& l2) {
    cwd_ = &cwd;
    l2_ = &l2;
    blocks_.connect(cwd);
  }
  /// Large images bypass the L2 where it holds nothing of them.
  host_memory& memory() { return memory_; }
  /// Reports to `supervisor` from now on.
  void supervise(host_supervisor& supervisor) { supervisor_ = &supervisor; }
  /// The PTX modules that are in use.
  ptx::parsed_modules& parsed_modules() { return modules_.parsed(); }
  /// The device runtime of launches.
  program_services& services() { return services_; }
  /// What executes launches functionally.
  functional_executor& functional() { return functional_executor_; }
  /// Launches are checked by `sanitizer` from now on.
  void sanitize(sanitizer& sanitizer);

  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override;

  void grid_resident(const grid_record& grid) override;
  void block_dispatched(const grid_record& grid) override { blocks_.hand_over(grid); }
  void grid_finished(const grid_record& grid, cycle_t cycle) override;
  void program_fault(const std::string& text) override { program_fault_with(text, {}); }
  void program_fault_with(const std::string& text, const fault_details& details) override;
  bool idempotent(const resident_launch& launch) override;
  /// Notified when a launch completes or the program fails; the irq line signals the same outside C++.
  sc_core::sc_event completion_event;
  [[nodiscard]] bool faulted() const { return !fault_.empty(); }
  /// True if launches have been accepted whose completion has not been reported.
  [[nodiscard]] bool busy() const { return completed_ < launches_; }
  /// A reset begins: commands are refused, and nothing is reported until it ends.
  void begin_reset();
  /// The GPU is idle, and all else is as constructed: so is the host interface, but for launch numbers.
  void end_reset();
  /// The caches are empty, as the host has asked.
  void caches_flushed();
  /// Tells the host that a launch has ended.
  void report_end(std::uint32_t launch);
  /// Informs the host that nothing will happen any more.
  void report_stuck();
  void trace(sc_core::sc_trace_file* file) const override;

  /// Nothing is in progress for the host.
  friend bool rests(const host_interface& host);
  /// While it rests and the GPU is between launches.
  friend void exchange(host_interface& host, state_image& image);
  /// A recorded program as its launches will find it.
  friend const decoded_program& placed(host_interface& host, const std::shared_ptr<const isa::program>& recorded);

 private:
  bool inspect_memory(std::uint64_t address, void* data, unsigned bytes) override {
    return memory_.inspect(address, data, bytes);
  }
  void printed(std::uint32_t client, const std::string& text) override;
  std::optional<executed_blocks> execute_left_out(const grid_record& grid) override;
  std::uint64_t read_register(std::uint64_t address);
  void write_register(std::uint64_t address, std::uint64_t value);
  tlm::tlm_response_status write_registers(const byte_transfer& t);
  tlm::tlm_response_status read_registers(const byte_transfer& t, bool takes);
  [[nodiscard]] std::uint64_t text_at(std::uint64_t address) const;
  std::uint64_t pop_completion();
  template <class Action>
  void attempt(Action&& action);
  void execute(std::uint64_t descriptor);
  void flush_caches();
  void move_context_area(std::uint64_t address);
  std::uint64_t load_module(const load_module_descriptor& d);
  std::uint64_t launch(const launch_descriptor& d);
  std::uint64_t execute_functionally(const launch_descriptor& d);
  void preempt(const preempt_descriptor& d);
  void terminate(const terminate_descriptor& d);
  std::string why_not_flush(const resident_launch& launch);
  std::uint64_t launch_recording(const launch_recording_descriptor& d);
  std::uint64_t submit(std::shared_ptr<resident_launch> l);
  void raise(std::uint64_t cause);
  void drive_irq();
  void report_fault();
  [[nodiscard]] bool in_reset() const { return resetting_ || (supervisor_ != nullptr && supervisor_->held_in_reset()); }
  void refuse_during_reset() const;

  const gpu_config config_;
  loaded_modules modules_;
  host_memory memory_;
  clock_domain& clock_;
  grid_distributor* cwd_ = nullptr;
  block_feed blocks_;
  std::uint64_t context_area_;
  printed_text_queue printed_;                                  // by kernels, not taken by the host yet
  std::map<const isa::program*, global_footprint> footprints_;  // of programs for which flush was considered
  std::shared_ptr<const sass_trace::trace_kernel> recorded_;    // that accompanied the last write
  std::uint32_t launches_ = 0;
  std::uint64_t completed_ = 0;
  bool flushing_ = false;  // caches, for the host
  bool resetting_ = false;
  std::deque<std::uint32_t> completion_queue_;
  device_services services_{*this};
  functional_executor functional_executor_;
  sanitizer* sanitizer_ = nullptr;
  std::map<std::uint64_t, bool>
      allocates_;  // by the stream's key, if launches are checked: whether its last launch may
  launch_builder launch_builder_;
  static constexpr std::uint64_t no_register = ~std::uint64_t{0};
  std::uint64_t early_register_ = no_register;  // of which a narrow host has written bytes, but not the lowest
  std::uint64_t early_bytes_ = 0;               // those bytes, zeros in place of the others
  std::uint64_t result_ = 0;
  std::uint64_t error_ = 0;
  std::string message_;
  std::string fault_;
  bool failing_ = false;  // the program has failed; parts of the message may still have to be read
  std::string failure_;   // the message so far
  fault_details details_;
  sc_core::sc_event details_due_;
  sc_core::sc_event irq_changed_;
  bool irq_fell_ = false;  // the line had no cause at some time since it was last driven
  std::uint64_t resets_ = 0;
  std::uint64_t interrupt_enable_ = host_interrupt::reset;
  std::uint64_t interrupt_pending_ = 0;
  std::uint64_t map_base_ = 0;
  std::uint64_t map_bytes_ = 0;
  host_supervisor* supervisor_ = nullptr;
  sampled_l2* l2_ = nullptr;
};

bool rests(const host_interface& host);
void exchange(host_interface& host, state_image& image);
const decoded_program& placed(host_interface& host, const std::shared_ptr<const isa::program>& recorded);

}  // namespace heddle

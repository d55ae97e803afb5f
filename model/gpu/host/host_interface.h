// SPDX-License-Identifier: MIT
// Models: the GPU's interface to its host: registers, command descriptors in device memory, completions, interrupt.
// Sockets: the gpu's host_socket (LT target) is bound to it; memory_socket (initiator) accesses device memory for the
//   host.
// One cycle: none; it acts on accesses and on reports of the CWD.
// Parameters: [gpu], limits of [sm]. Source: docs/host_interface.md.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/syntax/parsed_modules.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/functional/functional_memory.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/host/block_feed.h"
#include "heddle/gpu/host/bulk_access.h"
#include "heddle/gpu/host/device_heap.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/gpu/host/host_supervisor.h"
#include "heddle/gpu/host/idempotence.h"
#include "heddle/gpu/host/recorded_kernel.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/simt/texture/texture.h"
#include "heddle/sub_partition/program_services.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/port/blocking_initiator.h"
#include "heddle/tlm/port/blocking_target.h"

namespace heddle {

class host_interface : public sc_core::sc_module,
                       public blocking_target<>,
                       public grid_listener,
                       public program_services {
 public:
  host_interface(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config);

  tlm::tlm_initiator_socket<32> memory_socket;  // debug transport only: loads and reads images
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>* irq = nullptr;

  /// The device memory that kernels may access.
  [[nodiscard]] const address_ranges& ranges() const { return ranges_; }
  void connect(grid_distributor& cwd) {
    cwd_ = &cwd;
    blocks_.connect(cwd);
  }
  /// Large images bypass the L2 where it holds nothing of them.
  void move_images_by(bulk_access& bulk) { bulk_ = &bulk; }
  /// Reports to `supervisor` from now on.
  void supervise(host_supervisor& supervisor) { supervisor_ = &supervisor; }
  /// The PTX modules that are in use.
  ptx::parsed_modules& parsed_modules() { return parsed_; }
  /// Launches that are executed functionally may be ended by `observer` from now on.
  void observe(functional_observer& observer) { functional_executor_.observe(&observer); }

  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override;

  void grid_resident(const grid_record& grid) override { blocks_.hand_over(grid); }
  void block_dispatched(const grid_record& grid) override { blocks_.hand_over(grid); }
  void grid_finished(const grid_record& grid, cycle_t cycle) override;
  void program_fault(const std::string& text) override { program_fault_with(text, {}); }
  void program_fault_with(const std::string& text, const fault_details& details) override;
  bool idempotent(const resident_launch& launch) override;
  // program_services
  bool inspect(std::uint64_t address, void* data, unsigned bytes) override;
  void print(const std::string& text) override;
  std::uint64_t heap_allocate(std::uint64_t bytes) override { return heap_.allocate(bytes); }
  bool heap_free(std::uint64_t address) override { return heap_.free(address); }
  /// Notified when a launch completes or the program fails; the irq line signals the same outside C++.
  sc_core::sc_event completion_event;
  [[nodiscard]] bool faulted() const { return !fault_.empty(); }
  /// True if launches have been accepted whose completion has not been reported.
  [[nodiscard]] bool busy() const { return completed_ < launches_; }
  /// Informs the host that nothing will happen any more.
  void report_stuck();
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  std::uint64_t read_register(std::uint64_t address);
  bool write_register(std::uint64_t address, std::uint64_t value);
  tlm::tlm_response_status store_register(std::uint64_t address, const std::uint8_t* data, unsigned bytes);
  unsigned load_register(std::uint64_t address, std::uint8_t* data, unsigned bytes);
  std::uint64_t pop_completion();
  template <class Action>
  void attempt(Action&& action);
  void execute(std::uint64_t descriptor);
  void change_map(std::uint64_t what);
  void flush_caches();
  void move_context_area(std::uint64_t address);
  std::uint64_t load_module(const load_module_descriptor& d);
  std::uint64_t launch(const launch_descriptor& d);
  std::uint64_t execute_functionally(const launch_descriptor& d);
  std::shared_ptr<resident_launch> prepare(const launch_descriptor& d);
  void preempt(const preempt_descriptor& d);
  std::string why_not_flush(const resident_launch& launch);
  std::uint64_t launch_recording(const launch_recording_descriptor& d);
  std::shared_ptr<const decoded_program> place_code(std::shared_ptr<const isa::program> program);
  std::uint64_t submit(std::shared_ptr<resident_launch> l);
  std::uint64_t create_texture(const create_texture_descriptor& d);
  std::shared_ptr<const decoded_program> program(std::uint32_t module, const std::string& kernel,
                                                 std::uint32_t max_registers);
  void raise(std::uint64_t cause);
  void drive_irq();
  void tell_fault();
  unsigned memory_access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes);
  unsigned access_through_l2(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes);
  unsigned plain_access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes);
  std::uint8_t* variable_byte(std::uint64_t address);
  std::vector<std::uint8_t> fetch(std::uint64_t address, std::uint64_t bytes, std::uint64_t most, const char* what);
  template <class T>
  T fetch_descriptor(std::uint64_t address);

  struct loaded {
    ptx::loaded_module module;
    std::uint64_t constants_address = 0;
    std::map<std::pair<std::string, std::uint32_t>, std::shared_ptr<const decoded_program>> programs;
    /// Its variables in device memory: start address and initial values written by the host.
    std::array<std::pair<std::uint64_t, std::vector<std::uint8_t>*>, 2> images() {
      return {{{module.global_base, &module.global_image}, {constants_address, &module.constant_image}}};
    }
  };

  blocking_initiator<> memory_backward_;
  const gpu_config config_;
  clock_domain& clock_;
  grid_distributor* cwd_ = nullptr;
  block_feed blocks_;
  address_ranges ranges_;
  address_ranges::hint inspected_;
  std::mutex inspecting_;
  device_heap heap_;
  std::uint64_t heap_base_ = 0;
  std::uint64_t grid_workspace_ = 0;
  std::uint64_t context_area_;
  std::string printed_;  // by kernels, not taken by the host yet
  std::vector<loaded> modules_;
  ptx::parsed_modules parsed_;
  // By program, so that launches of one traced kernel share its code in the instruction caches.
  std::map<const isa::program*, std::shared_ptr<const decoded_program>> recorded_programs_;
  std::map<const isa::program*, global_footprint> footprints_;  // of programs for which flush was considered
  std::shared_ptr<const sass_trace::trace_kernel> recorded_;    // that accompanied the last write
  std::shared_ptr<const simt::texture_table> textures_;
  std::uint32_t launches_ = 0;
  std::uint64_t completed_ = 0;
  bool flushing_ = false;  // caches, for the host
  std::uint64_t next_code_address_ = 0;
  std::deque<std::uint32_t> completion_queue_;
  static constexpr unsigned least_bulk_bytes = 16384;  // fewer are as fast block by block
  bulk_access* bulk_ = nullptr;
  functional_memory functional_memory_;  // pages held by functional execution
  functional_executor functional_executor_;
  std::uint64_t upper_half_ = 0;      // written by a 32-bit host, until the lower half follows
  std::uint64_t upper_register_ = 0;  // the register of upper_half_
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
  std::uint64_t interrupt_enable_ = 0;
  std::uint64_t interrupt_pending_ = 0;
  std::uint64_t map_base_ = 0;
  std::uint64_t map_bytes_ = 0;
  host_supervisor* supervisor_ = nullptr;
};

}  // namespace heddle

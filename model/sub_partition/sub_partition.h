// SPDX-License-Identifier: MIT
// Models: one sub-partition of an SM: fetch, warp scheduler, scoreboard, register file and execution units.
// Sockets: dispatch_socket[u] (initiator) to each execution unit; lsu_socket (initiator) to the SM's load/store unit.
// One cycle: warps whose wait has ended become ready; the scheduler selects one eligible warp, which issues one
//   instruction or two consecutive ones; the warp's next instruction is then fetched and its wait is computed.
// Parameters: [sub_partition] and the sections of the units. Source: docs/pipeline.md.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/config/parameters.h"
#include "heddle/simt/warp/context_image.h"
#include "heddle/simt/warp/print_format.h"
#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/dependence/dependence.h"
#include "heddle/sub_partition/dependence/shared_lanes.h"
#include "heddle/sub_partition/fetch/fetch.h"
#include "heddle/sub_partition/fetch/immediate_constants.h"
#include "heddle/sub_partition/issue/execution_unit.h"
#include "heddle/sub_partition/issue/register_file.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/issue/warp_timers.h"
#include "heddle/sub_partition/issue/write_ports.h"
#include "heddle/sub_partition/memory/memory_issue.h"
#include "heddle/sub_partition/partition_signals.h"
#include "heddle/sub_partition/program_services.h"
#include "heddle/sub_partition/stream/executed_stream.h"
#include "heddle/sub_partition/stream/recorded_stream.h"
#include "heddle/sub_partition/warp/warp_supervisor.h"
#include "heddle/sub_partition/warp/warp_table.h"
#include "heddle/tlm/kernel/trace_observer.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/blocking_initiator.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

constexpr unsigned system_scope = 2;  // as encoded in MEMBAR

class sub_partition final : public sc_core::sc_module, public clocked, private warp_control, private trace_observer {
  enum class pairing : std::uint8_t { none, any, maxwell };
  /// What every instruction touches.
  struct alignas(64) hot_state {
    hot_state(unit_clock& clock, clocked& unit, const gpu_config& config, unsigned index, warp_supervisor& supervisor);

    warp_table warps;
    clock_port clock;
    std::uint64_t held = 0;     // mask of slots whose ready warp the policy holds back from memory
    cycle_t replays_until = 0;  // issue slots before this cycle are taken by replays
    warp_supervisor& supervisor;
    shared_lanes* fp32_lanes = nullptr;
    unsigned index;
    const pairing pairing_rule;      // also none if the issue width is 1
    const bool independent;          // each lane has its own program counter
    const bool read_window;          // operands are read in a fixed window, without a collector
    bool codes = false;              // the warp placed last uses control codes
    const bool fp64_alone;           // an fp64 instruction also occupies the other sub-partitions' issue cycle
    std::uint16_t shared_units = 0;  // units shared by the SM's sub-partitions, bit per unit
    const decoded_instruction* reuses =
        nullptr;             // the instruction after the last arithmetic one, whose operands are in the reuse cache
    unsigned last_slot = 0;  // the warp that issued that one
    const decoded_instruction* to_shared = nullptr;  // in the pair being issued, the instruction for the shared lanes
    // The last issue, sampled by observers.
    unsigned issued = 0;        // instructions issued in the last active cycle
    cycle_t issued_at = never;  // the cycle of the last issue
    unsigned issued_warp = 0;
    std::uint32_t issued_pc = 0;
    simt::lane_mask issued_mask = 0;
    bool halted = false;
    // Bound interfaces of the dispatch sockets, looked up once: a call through port and export costs a cache miss per
    // issue.
    std::array<tlm::tlm_fw_transport_if<issue_protocol_types>*, static_cast<std::size_t>(isa::unit::count)>
        dispatch_to{};
  };
  static_assert(sizeof(hot_state) == 256, "four cache lines");
  hot_state hot_;  // the units refer to it

 public:
  /// Slot s of sub-partition `index` holds the warp with warp id s * sm.sub_partitions + index of the SM.
  sub_partition(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id,
                unsigned index, instruction_cache& cache, warp_supervisor& supervisor);
  ~sub_partition() override;

  tlm::tlm_initiator_socket<32, lsu_protocol_types> lsu_socket;
  /// A program may bind an execution unit of its own before elaboration ends; otherwise units[u] is bound.
  // A deque, because sc_vector generates a name for each element, and a large chip has thousands of these sockets.
  std::deque<tlm::tlm_initiator_socket<32, issue_protocol_types>> dispatch_socket;                 // by unit
  sc_core::sc_vector<tlm::tlm_initiator_socket<32, issue_protocol_types>> shared_dispatch_socket;  // as shared_unit

  /// Sets the fp32 lanes that this sub-partition shares with others; they execute the second instruction of a pair.
  /// Called only if fp32.shared_lanes is not 0.
  void share_fp32(shared_lanes& lanes) { hot_.fp32_lanes = &lanes; }
  /// The system-scope fence that the slot's warp began with begin_system_fence has been performed.
  void system_fence_performed(unsigned slot, cycle_t cycle);
  /// Places a warp of `block` in a free slot. The warp is active from `cycle` on.
  void place_warp(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                  unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle);

  // Context switch (sub_partition_switch.cpp): stop, exchange, swap_out; then swap_in, exchange, resume.
  /// The slot's warp issues nothing from `cycle` on. A warp that has already exited finishes normally.
  void stop(unsigned slot, cycle_t cycle);
  /// First cycle in which the results of all instructions of the slot's warp are available, except memory instructions.
  [[nodiscard]] cycle_t settled(unsigned slot) const { return dependence.settled(slot, *hot_.warps[slot].program); }
  /// Writes a stopped warp to a context image, or restores it from one. Throws program_error if the image is not a
  /// valid warp of this program.
  void exchange(unsigned slot, simt::context_image& image);
  /// The stopped warp's context is in memory: frees the slot and erases the warp's state.
  void swap_out(unsigned slot, cycle_t cycle);
  /// Reserves the slot for a warp that is swapped in. The warp is active from `cycle` on, and stopped.
  void swap_in(unsigned slot, const resident_launch& launch, const simt::block_context& block, unsigned warp_in_block,
               unsigned allocated_registers, cycle_t cycle);
  /// The stopped warp may issue from `cycle` on.
  void resume(unsigned slot, cycle_t cycle);

  /// The lanes of `mask`, independent and active in the slot's warp, wait at barrier `number`.
  void stop_at_barrier(unsigned slot, simt::lane_mask mask, unsigned number);
  /// Barrier `number`, at which the slot's warp or some of its lanes wait, has completed. A warp that has no other
  /// lanes to run resumes at `cycle`.
  void resume_from_barrier(unsigned slot, unsigned number, cycle_t cycle);
  /// Writes the result of a reducing barrier to its waiting lanes: of `threads` arrived threads, `count` had the
  /// predicate true.
  void deliver_reduction(unsigned slot, unsigned number, std::uint32_t count, std::uint32_t threads);
  simt::warp_state& warp(unsigned slot) { return hot_.warps[slot].state; }
  [[nodiscard]] const warp_slot& at(unsigned slot) const { return hot_.warps[slot]; }
  [[nodiscard]] unsigned index() const { return hot_.index; }
  /// Sets the environment of SYSCALL outside the SM. Programs that call the device runtime need it.
  void use(program_services* services) { services_ = services; }
  /// Nothing issues in the cycle after `cycle`.
  void skip_issue(cycle_t cycle) { scheduler.stall(cycle + 1, cycle + 2); }
  /// Stops issuing for good: the simulated program failed.
  void halt() { hot_.halted = true; }
  /// Reports that the slot's instruction failed, with kernel, PTX line, block and the thread of `lane`.
  void fault(unsigned slot, unsigned lane, const std::string& what) { fault(slot, *hot_.warps[slot].next, lane, what); }
  [[nodiscard]] unsigned slots() const { return hot_.warps.size(); }
  /// Signals of each cycle in [first, last], for waveforms and pipeline views; owned by the sub-partition.
  [[nodiscard]] const partition_signals& watch(cycle_t first, cycle_t last) const;
  /// Hash of the architectural state of the slot's warp: registers, predicates, program counters of its lanes. Equal
  /// states have equal fingerprints.
  std::uint64_t fingerprint(unsigned slot);
  /// Adds the active warps' cycles before `cycle` to the counters.
  void settle_accounts(cycle_t cycle);

  void on_cycle(cycle_t cycle) override;
  void prefetch_hint(cycle_t cycle, bool distant) const override;
  void trace(sc_core::sc_trace_file* file) const override;

  [[nodiscard]] bool idle() const { return hot_.warps.active() == 0 && memory.idle(); }
  void check_invariants() const;

  warp_scheduler scheduler;
  class fetch fetch;
  class dependence dependence;
  class register_file register_file;
  class immediate_constants immediate_constants;
  stall_account account;
  memory_issue memory;
  std::deque<execution_unit> units;
  sc_core::sc_vector<execution_unit> shared_unit;  // the fp32 lanes shared by sub-partitions: one element, or none

 private:
  void before_end_of_elaboration() override;
  void start_of_simulation() override;
  void traced(const sc_core::sc_trace_file* file) const override;

  void occupy(unsigned slot, const resident_launch& launch, const simt::block_context& block, unsigned warp_in_block,
              unsigned allocated_registers, cycle_t cycle);
  void vacate(unsigned slot, cycle_t cycle);

  // Waiting and readiness (sub_partition.cpp)
  void settle(unsigned slot, cycle_t from, cycle_t fetch_at, bool redirected) override;
  void reconsider(unsigned slot, cycle_t cycle) override;
  void make_ready(unsigned slot, cycle_t cycle);
  void set_timer(unsigned slot, cycle_t cycle) override;
  void on_timer(unsigned slot, cycle_t cycle);
  void run_timers(cycle_t cycle);
  [[nodiscard]] auto timer_of() const {
    return [this](unsigned slot) { return hot_.warps[slot].timer; };
  }
  void schedule(cycle_t cycle);
  void finish(unsigned slot, cycle_t cycle) override;
  [[nodiscard]] bool halted() const override { return hot_.halted; }
  void hold_memory(cycle_t cycle);

  void prefetch_warp(unsigned slot) const;

  // Dependences of the slot's warp.
  [[nodiscard]] scoreboard::answer operands(unsigned slot, const decoded_instruction& d) const {
    return dependence.probe(slot, *hot_.warps[slot].program, d);
  }
  void set_ready(unsigned slot, const decoded_instruction& d, cycle_t cycle) {
    dependence.set_ready(slot, *hot_.warps[slot].program, d, cycle);
  }
  /// Adds why a ready warp, which issues or is stopped in `until`, did not issue before.
  void account_ready(unsigned slot, cycle_t until) {
    warp_slot& w = hot_.warps[slot];
    account.settle_ready(w, scheduler.remove_ready(slot, w.next->unit, until), until);
  }

  // Issue (sub_partition_issue.cpp)
  void issue_from(unsigned slot, cycle_t cycle);
  bool pairs(const decoded_instruction& first, unsigned slot, cycle_t cycle);
  void issue_conflicting(unsigned slot, const decoded_instruction& d, cycle_t cycle, unsigned latency);
  /// The unit of `d` answered a longer latency than it was asked for.
  static void check_stall_counts(const decoded_program& p, const decoded_instruction& d);
  /// Issues the slot's next instruction. Returns true if the warp continues in sequence and may issue a second one.
  bool issue_one(unsigned slot, cycle_t cycle);
  unsigned dispatch(unsigned slot, const decoded_instruction& d, simt::lane_mask mask, cycle_t cycle);
  void issue_fence(unsigned slot, cycle_t cycle);
  void issue_sleep(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  void replay(unsigned slot, std::uint32_t sequence, cycle_t cycle);
  void fault(unsigned slot, const decoded_instruction& d, unsigned lane, const std::string& what) override {
    fault_with(slot, d, lane, what, {});
  }
  void fault_with(unsigned slot, const decoded_instruction& d, unsigned lane, const std::string& what,
                  fault_details details);
  void fault_of(const resident_launch& launch, const simt::dim3& block, std::uint32_t thread,
                const decoded_instruction& d, const std::string& what) override {
    report_fault(launch, block, thread, d, what, {});
  }
  void report_fault(const resident_launch& launch, const simt::dim3& block, std::uint32_t thread,
                    const decoded_instruction& d, const std::string& what, fault_details details);

  // Device runtime (sub_partition_system.cpp)
  void issue_system(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  void issue_trap(unsigned slot, simt::lane_mask mask);
  [[nodiscard]] simt::lane_reader memory_of(const warp_slot& w, unsigned lane) const;
  [[nodiscard]] fault_details details_of(const warp_slot& w, const isa::instruction& i, unsigned lane) const;

  const gpu_config& config_;  // outlives the sub-partition
  warp_timers timers_;
  const executed_stream executed_;
  const recorded_stream recorded_;
  program_services* services_ = nullptr;
  class write_ports write_ports_;
  blocking_initiator<issue_protocol_types> unit_answers_;
  unsigned initiation_cycles_ = 0;  // as the unit of the last dispatched instruction answered
  unsigned conflicts_ = 0;          // extra operand-read cycles of the last instruction with a bank conflict
  cycle_t conflicts_at_ = never;    // its issue cycle
  mutable std::unique_ptr<partition_signals> signals_;  // allocated when first observed
};

}  // namespace heddle

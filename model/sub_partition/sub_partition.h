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
#include "heddle/memory/common/per_launch.h"
#include "heddle/memory/l1/coalescer.h"
#include "heddle/simt/warp/context_image.h"
#include "heddle/simt/warp/print_format.h"
#include "heddle/sub_partition/account/instruction_observer.h"
#include "heddle/sub_partition/account/issue_counters.h"
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
#include "heddle/sub_partition/memory/memory_operation.h"
#include "heddle/sub_partition/partition_signals.h"
#include "heddle/sub_partition/program_services.h"
#include "heddle/sub_partition/warp_slot.h"
#include "heddle/sub_partition/warp_supervisor.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

constexpr unsigned system_scope = 2;  // as encoded in MEMBAR

class sub_partition : public sc_core::sc_module, public clocked, public lsu_bw_if {
 public:
  /// Slot s of sub-partition `index` holds the warp with warp id s * sm.sub_partitions + index of the SM.
  sub_partition(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, unsigned sm_id,
                unsigned index, instruction_cache& cache, warp_supervisor& supervisor);
  ~sub_partition() override;

  tlm::tlm_initiator_socket<32, lsu_protocol_types> lsu_socket;
  // A deque, because sc_vector generates a name for each element, and a large chip has thousands of these sockets.
  std::deque<tlm::tlm_initiator_socket<32, issue_protocol_types>> dispatch_socket;                 // by unit
  sc_core::sc_vector<tlm::tlm_initiator_socket<32, issue_protocol_types>> shared_dispatch_socket;  // as shared_unit

  /// Sets the fp32 lanes that this sub-partition shares with others; they execute the second instruction of a pair.
  /// Called only if fp32.shared_lanes is not 0.
  void share_fp32(shared_lanes& lanes) { shared_lanes_ = &lanes; }
  /// The system-scope fence that the slot's warp began with begin_system_fence has been performed.
  void system_fence_performed(unsigned slot, cycle_t cycle);
  /// Places a warp of `block` in a free slot. The warp is active from `cycle` on.
  void place_warp(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                  unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle);

  // Context switch (sub_partition_switch.cpp): stop, exchange, swap_out; then swap_in, exchange, resume.
  /// The slot's warp issues nothing from `cycle` on. A warp that has already exited finishes normally.
  void stop(unsigned slot, cycle_t cycle);
  /// True if memory instructions of the slot's warp are in flight.
  bool outstanding(unsigned slot) const { return slots_[slot].loads + slots_[slot].stores != 0; }
  /// First cycle in which the results of all its other instructions are available.
  cycle_t settled(unsigned slot) const { return dependence.settled(slot, *slots_[slot].program); }
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
  simt::warp_state& warp(unsigned slot) { return slots_[slot].state; }
  unsigned index() const { return index_; }
  /// Sets the environment of SYSCALL outside the SM. Programs that call the device runtime need it.
  void use(program_services* services) { services_ = services; }
  /// Nothing issues in the cycle after `cycle`.
  void skip_issue(cycle_t cycle) { scheduler.stall(cycle + 1, cycle + 2); }
  /// Stops issuing for good: the simulated program failed.
  void halt() { halted_ = true; }
  /// Reports that the slot's instruction failed, with kernel, PTX line, block and the thread of `lane`.
  void fault(unsigned slot, unsigned lane, const std::string& what) { fault(slot, *slots_[slot].next, lane, what); }
  warp_phase phase(unsigned slot) const { return slots_[slot].phase; }
  unsigned slots() const { return static_cast<unsigned>(slots_.size()); }
  /// Source position of the slot's warp, for messages: "file.ptx:12:5".
  std::string position(unsigned slot) const;
  /// For each group of the warp's lanes, where it is and what it waits for, for messages: "lanes 0x0000ffff, waits at
  /// barrier 1, file.ptx:12:5". `barrier`: the barrier at which the whole warp waits, if it does.
  std::vector<std::string> standing(unsigned slot, unsigned barrier) const;
  /// Signals of each cycle in [first, last], for waveforms and pipeline views; owned by the sub-partition.
  const partition_signals& watch(cycle_t first, cycle_t last) const;
  /// Reports memory instructions to `observer` from now on; null: to none.
  void observe(instruction_observer* observer) { observer_ = observer; }
  /// Block and kernel of the slot's warp, for messages: "block (0,0,0) of kernel 'k'".
  std::string owner(unsigned slot) const;
  /// The slot's warp is driven by a trace.
  bool recorded(unsigned slot) const { return slots_[slot].step != nullptr; }
  /// Hash of the architectural state of the slot's warp: registers, predicates, program counters of its lanes. Equal
  /// states have equal fingerprints.
  std::uint64_t fingerprint(unsigned slot);
  /// Cycle in which the warp's next instruction is in its buffer; another one after each issue of the warp.
  cycle_t settled_at(unsigned slot) const { return slots_[slot].fetch_at; }
  /// Adds the active warps' cycles before `cycle` to the counters.
  void settle_accounts(cycle_t cycle);

  void on_cycle(cycle_t cycle) override;
  void prefetch_hint(cycle_t cycle, bool distant) const override;
  tlm::tlm_sync_enum nb_transport_bw(lsu_transaction& t, lsu_phase& phase, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void trace(sc_core::sc_trace_file* file) const override;

  bool idle() const { return active_ == 0 && operations_.in_use() == 0; }
  void check_invariants() const;
  per_launch<issue_counters> counters;
  /// Profiles by instruction are counted in `profiles` from now on, together with the SM's other sub-partitions.
  /// Without this call the sub-partition keeps its own.
  void share_profiles(per_launch<launch_profile>& profiles) { profiles_ = &profiles; }
  /// By slot, the states of all warps that it has held. Empty without sub_partition.states_by_warp.
  std::vector<state_counts> states_by_slot;

  warp_scheduler scheduler;
  class fetch fetch;
  class dependence dependence;
  class register_file register_file;
  class immediate_constants immediate_constants;
  std::deque<execution_unit> units;
  sc_core::sc_vector<execution_unit> shared_unit;  // the fp32 lanes shared by sub-partitions: one element, or none

 private:
  friend class partition_signals;  // which samples its state
  // Execution units complete within b_transport; the backward path exists only because a socket requires it.
  struct unit_answers : tlm::tlm_bw_transport_if<issue_protocol_types> {
    tlm::tlm_sync_enum nb_transport_bw(issue_transaction&, tlm::tlm_phase&, sc_core::sc_time&) override {
      return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  };
  void start_of_simulation() override;
  void watch_for(const sc_core::sc_trace_file* file) const;

  void occupy(unsigned slot, const resident_launch& launch, const simt::block_context& block, unsigned warp_in_block,
              unsigned allocated_registers, cycle_t cycle);
  void vacate(unsigned slot, cycle_t cycle);
  void resume_at(unsigned slot, std::uint64_t step);
  void exchange_live(warp_slot& w, simt::context_image& image);

  // Waiting and readiness (sub_partition.cpp)
  void settle(unsigned slot, cycle_t from, cycle_t fetch_at, bool redirected);
  void reconsider(unsigned slot, cycle_t cycle);
  void make_ready(unsigned slot, cycle_t cycle);
  void set_timer(unsigned slot, cycle_t cycle);
  void on_timer(unsigned slot, cycle_t cycle);
  void run_timers(cycle_t cycle);
  auto timer_of() const {
    return [this](unsigned slot) { return slots_[slot].timer; };
  }
  void schedule(cycle_t cycle);
  void finish(unsigned slot, cycle_t cycle);
  std::vector<departed_warp>::iterator departed(unsigned slot, std::uint16_t residency);
  void settle_store(unsigned slot, std::uint16_t residency, cycle_t cycle);
  void hold_memory(cycle_t cycle);

  void prefetch_warp(unsigned slot) const;

  // Dependences of the slot's warp.
  scoreboard::answer operands(unsigned slot, const decoded_instruction& d) const {
    return dependence.probe(slot, *slots_[slot].program, d);
  }
  void set_ready(unsigned slot, const decoded_instruction& d, cycle_t cycle) {
    dependence.set_ready(slot, *slots_[slot].program, d, cycle);
  }
  void set_pending(unsigned slot, const decoded_instruction& d, producer kind) {
    dependence.set_pending(slot, *slots_[slot].program, d, kind);
  }

  // Accounting (sub_partition.cpp)
  /// Sets the warp's next instruction to the one at `pc`.
  static void look_at(warp_slot& w, std::uint32_t pc) {
    w.next = &w.program->code[pc];
    w.line = w.profile->lines() + pc;
  }
  void add(warp_slot& w, warp_cycle c, warp_stall s, std::uint64_t cycles) {
    if (cycles == 0) return;
    const unsigned state = state_of(c, s);
    w.profile->add(*w.line, launch_profile::what(state), cycles);
    if (__builtin_expect(by_warp_, 0))
      add_state(states_by_slot[static_cast<std::size_t>(&w - slots_.data())], state, cycles);
    w.counters->states[state] += cycles;
  }
  void account(unsigned slot, cycle_t until);
  void account_ready(unsigned slot, cycle_t until);
  void set_texture_full(bool full, cycle_t from);
  bool texture_full(cycle_t cycle) const { return texture_full_ == (cycle >= texture_changed_); }
  /// Stall reason of a ready warp whose unit's input is occupied.
  static warp_stall busy_stall(const decoded_instruction& d) {
    if (d.unit == isa::unit::texture) return warp_stall::tex_throttle;
    if (d.unit != isa::unit::ldst) return warp_stall::math_pipe_throttle;
    return d.global_access ? warp_stall::lg_throttle : warp_stall::mio_throttle;
  }

  // Issue (sub_partition_issue.cpp)
  void issue_from(unsigned slot, cycle_t cycle);
  bool pairs(const decoded_instruction& first, unsigned slot, cycle_t cycle);
  void issue_conflicting(unsigned slot, const decoded_instruction& d, cycle_t cycle);
  /// Issues the slot's next instruction. Returns true if the warp continues in sequence and may issue a second one.
  bool issue_one(unsigned slot, cycle_t cycle);
  void dispatch(unsigned slot, const decoded_instruction& d, simt::lane_mask mask, cycle_t cycle);
  void issue_branch(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  void issue_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  void issue_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  std::string place_of(unsigned slot, const isa::instruction& i) const;
  void issue_sleep(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  void fault(unsigned slot, const decoded_instruction& d, unsigned lane, const std::string& what,
             fault_details details = {});
  void fault_of(const resident_launch& launch, const simt::dim3& block, std::uint32_t thread,
                const decoded_instruction& d, const std::string& what, fault_details details);

  // Device runtime (sub_partition_system.cpp)
  void issue_system(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  simt::lane_reader memory_of(const warp_slot& w, unsigned lane) const;
  fault_details details_of(const warp_slot& w, const isa::instruction& i, unsigned lane) const;

  // Control flow: executed, or read from a trace (sub_partition_recorded.cpp)
  void advance(warp_slot& w) {
    if (__builtin_expect(w.step != nullptr, 0)) next_step(w);
    else simt::advance(w.state);
  }
  /// After issue, the warp does not continue at `sequence`, the next instruction in program order.
  static bool leaves(const warp_slot& w, std::uint32_t sequence) { return w.jumps && w.state.pc != sequence; }
  static void next_step(warp_slot& w) {
    ++w.step;
    if (__builtin_expect(w.step == w.last_step, 0) && !w.piece->ends)
      seek(w, w.piece->position + static_cast<std::uint64_t>(w.step - w.piece->first));
    w.state.pc = w.step->instruction;
    w.state.active = w.step->mask;
  }
  /// Number of 32-lane registers of a warp that hold values: 0 for trace-driven warps.
  static unsigned registers_kept(const resident_launch& l) { return l.recording ? 0 : l.program->registers; }
  void follow(warp_slot& w, const isa::recorded_block* recording) const;
  static bool seek(warp_slot& w, std::uint64_t position);
  static bool lanes_go_on(const warp_slot& w);
  static void recorded_addresses(const warp_slot& w, lsu_transaction& t);
  static bool recorded_branch(warp_slot& w, simt::lane_mask mask);
  void recorded_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  void recorded_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle);

  // Independent lanes (sub_partition_lanes.cpp)
  /// Cycle in which the instruction at the slot's pc is in the buffer. `sequence`: the next pc in program order.
  cycle_t fetched(unsigned slot, std::uint32_t sequence, cycle_t cycle) {
    const warp_slot& w = slots_[slot];
    return leaves(w, sequence) ? fetch.redirect(slot, w.program->code_address, w.state.pc, cycle)
                               : fetch.next(slot, w.program->code_address, w.state.pc, cycle);
  }
  bool lanes_present(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  void go_on(unsigned slot, std::uint32_t sequence, cycle_t cycle);
  void lanes_at_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  void lanes_exit(unsigned slot, simt::lane_mask mask, std::uint32_t sequence, cycle_t cycle);

  // Memory instructions (sub_partition_memory.cpp)
  bool constants_exist(unsigned slot, const lsu_transaction& t, simt::lane_mask mask);
  void issue_memory(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  bool resolve(unsigned slot, lsu_transaction& t, simt::lane_mask mask);
  void issue_texture(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  lsu_transaction& texel_access(const warp_slot& w, memory_operation& o, unsigned k, cycle_t cycle);
  void texels_arrived(const lsu_transaction& t);
  std::uint64_t local_address(const warp_slot& w, std::uint64_t offset, unsigned lane) const;
  /// Counts the access's further issues if each of its passes goes through the issue stage (sub_partition_replay.cpp).
  void count_replays(const warp_slot& w, const lsu_transaction& t);
  void replay(unsigned slot, std::uint32_t sequence, cycle_t cycle);
  void split(lsu_transaction& first);
  void send(lsu_transaction& t);
  void update_gate(cycle_t cycle);
  void complete(lsu_transaction& t, cycle_t cycle);

  enum class pairing : std::uint8_t { none, any, maxwell };

  const gpu_config& config_;  // outlives the sub-partition
  // Members from here to halted_ are touched by every instruction; they are packed into as few cache lines as possible.
  alignas(64) std::vector<warp_slot> slots_;
  clock_port clock_;
  std::uint64_t active_ = 0;      // mask of slots that hold a warp
  std::uint64_t held_ = 0;        // mask of slots whose ready warp the policy holds back from memory
  cycle_t replays_until_ = 0;     // issue slots before this cycle are taken by replays
  unsigned pending_replays_ = 0;  // replays of the instructions being issued
  warp_supervisor& supervisor_;
  shared_lanes* shared_lanes_ = nullptr;
  tlm::tlm_fw_transport_if<lsu_protocol_types>* lsu_ = nullptr;
  unsigned sm_id_;
  unsigned index_;
  unsigned credits_;
  unsigned textures_ = 0;      // texture and surface instructions in flight
  bool texture_full_ = false;  // state of the texture path from texture_changed_ on; before that cycle, the opposite
  cycle_t texture_changed_ = 0;
  const pairing pairing_;           // also none if the issue width is 1
  const bool replays_;              // each further pass of a memory instruction is another issue
  const bool independent_;          // each lane has its own program counter
  const bool read_window_;          // operands are read in a fixed window, without a collector
  const bool by_warp_;              // states_by_slot is counted
  bool codes_ = false;              // the warp placed last uses control codes
  const bool software_;             // dependence is software-controlled, except in trace-driven programs
  const bool fp64_alone_;           // an fp64 instruction also occupies the other sub-partitions' issue cycle
  std::uint16_t shared_units_ = 0;  // units shared by the SM's sub-partitions, bit per unit
  const decoded_instruction* reuses_ =
      nullptr;              // the instruction after the last arithmetic one, whose operands are in the reuse cache
  unsigned last_slot_ = 0;  // the warp that issued that one
  const decoded_instruction* to_shared_ = nullptr;  // in the pair being issued, the instruction for the shared lanes
  // The last issue, sampled by observers.
  unsigned issued_ = 0;        // instructions issued in the last active cycle
  cycle_t issued_at_ = never;  // the cycle of the last issue
  unsigned issued_warp_ = 0;
  std::uint32_t issued_pc_ = 0;
  simt::lane_mask issued_mask_ = 0;
  bool halted_ = false;
  // Bound interfaces of the dispatch sockets, looked up once: a call through port and export costs a cache miss per
  // issue.
  std::array<tlm::tlm_fw_transport_if<issue_protocol_types>*, static_cast<std::size_t>(isa::unit::count)>
      dispatch_to_{};

  warp_timers timers_;
  memory_operation_pool operations_;
  std::vector<departed_warp> departed_;
  std::deque<lsu_transaction*> backlog_;  // transactions of split instructions, waiting for credits
  program_services* services_ = nullptr;
  per_launch<launch_profile> own_profiles_;
  per_launch<launch_profile>* profiles_ = &own_profiles_;
  bank_conflicts banks_;
  class write_ports write_ports_;
  unit_answers unit_answers_;
  unsigned conflicts_ = 0;        // extra operand-read cycles of the last instruction with a bank conflict
  cycle_t conflicts_at_ = never;  // its issue cycle
  mutable std::unique_ptr<partition_signals> signals_;  // allocated when first observed
  instruction_observer* observer_ = nullptr;
};

}  // namespace heddle

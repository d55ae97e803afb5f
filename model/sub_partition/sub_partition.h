// SPDX-License-Identifier: MIT
// Models: one sub-partition of an SM: fetch, warp scheduler, scoreboard, register file and execution units.
// Sockets: dispatch_socket[u] (initiator) to each execution unit; lsu_socket (initiator) to the SM's load/store unit.
// One cycle: warps whose wait is over become ready; the scheduler selects one eligible warp; it issues one instruction,
// or
//   two consecutive ones; the warp's next instruction is looked at and its wait worked out.
// Parameters: [sub_partition] and the sections of the units. Source: ARCHITECTURE section 4 "A warp instruction".
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
#include "heddle/sub_partition/dependence/dependence_counters.h"
#include "heddle/sub_partition/dependence/scoreboard.h"
#include "heddle/sub_partition/dependence/shared_lanes.h"
#include "heddle/sub_partition/fetch/fetch.h"
#include "heddle/sub_partition/fetch/immediate_constants.h"
#include "heddle/sub_partition/issue/execution_unit.h"
#include "heddle/sub_partition/issue/register_file.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/issue/write_ports.h"
#include "heddle/sub_partition/memory/memory_operation.h"
#include "heddle/sub_partition/partition_signals.h"
#include "heddle/sub_partition/program_services.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/protocol/fault_details.h"
#include "heddle/tlm/protocol/lsu_protocol.h"

namespace heddle {

/// What a sub-partition needs from the SM around it.
class warp_supervisor {
 public:
  virtual ~warp_supervisor() = default;
  /// The warp in warp slot `warp` (warp id on the SM) has exited, no load of it is outstanding and the load/store unit
  /// has the data of its stores; it is gone from `cycle` on. With `stores_left`, stores of it are not acknowledged yet:
  /// stores_settled tells when they are. Returns a name of its block for that.
  virtual std::uint64_t warp_finished(unsigned warp, bool stores_left, cycle_t cycle) = 0;
  /// All stores that a finished warp of the block had left are acknowledged.
  virtual void stores_settled(std::uint64_t block, cycle_t cycle) = 0;
  /// Lanes of the warp have exited in `cycle` (their outstanding instructions may still be on their way). Told for
  /// every exit of lanes when lanes are independent, else when the warp's last ones exit.
  virtual void lanes_exited(unsigned warp, simt::lane_mask lanes, cycle_t cycle) = 0;
  /// The warp executed BAR in `cycle`; returns false if it need not wait (arrive). Waiting warps are resumed by
  /// sub_partition::resume_from_barrier; independent lanes that wait are first stopped by stop_at_barrier.
  virtual bool barrier_arrive(unsigned warp, const isa::instruction& bar, simt::lane_mask mask, cycle_t cycle) = 0;
  /// Nothing of a warp that was stopped is outstanding any more.
  virtual void warp_quiet(unsigned warp) = 0;
  /// The simulated program failed; the text names kernel, PTX line, block and thread.
  virtual void program_fault(const std::string& text) = 0;
  /// The same, and the text also says what lies in memory.
  virtual void program_fault_with(const std::string& text, const fault_details& details) {
    static_cast<void>(details);
    program_fault(text);
  }
  /// A warp's fence of the system's scope is to reach those who share the GPU's memory. False: nobody does. Else
  /// sub_partition::system_fence_performed says when it has.
  virtual bool begin_system_fence(unsigned warp, std::uint32_t launch, cycle_t cycle) {
    return static_cast<void>(warp), static_cast<void>(launch), static_cast<void>(cycle), false;
  }
  /// A warp has passed a fence: what it loads from here on must be what others of the scope (MEMBAR's) have stored
  /// before theirs.
  virtual void fence_passed(unsigned scope) { static_cast<void>(scope); }
  /// The sub-partition has issued an instruction that takes the SM's other sub-partitions' next issue cycle, too.
  virtual void issued_alone(unsigned sub_partition, cycle_t cycle) {
    static_cast<void>(sub_partition), static_cast<void>(cycle);
  }
  /// The sub-partition's instruction holds a unit of all sub-partitions from `cycle` to before `until`.
  virtual void shared_unit_taken(isa::unit unit, unsigned sub_partition, cycle_t cycle, cycle_t until) {
    static_cast<void>(unit), static_cast<void>(sub_partition), static_cast<void>(cycle), static_cast<void>(until);
  }
  /// The SM's memory system has hardly room for another miss.
  virtual bool memory_saturated() const { return false; }
};

constexpr unsigned system_scope = 2;  // MEMBAR's

/// What a warp slot holds and what it waits for.
enum class warp_phase : std::uint8_t {
  empty,
  waiting,
  ready,
  at_barrier,
  at_fence,
  sleeping,
  exited,
  held,
  stopped,
  replaying
};

class sub_partition : public sc_core::sc_module, public clocked, public lsu_bw_if {
 public:
  /// Warp slot s of sub-partition `index` is warp id s * sm.sub_partitions + index of the SM.
  sub_partition(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config, unsigned sm_id,
                unsigned index, instruction_cache& cache, warp_supervisor& supervisor);
  ~sub_partition() override;

  tlm::tlm_initiator_socket<32, lsu_protocol_types> lsu_socket;
  // Not sc_vector, which works out a name for each element: a large chip has thousands of these.
  std::deque<tlm::tlm_initiator_socket<32, issue_protocol_types>> dispatch_socket;                 // by unit
  sc_core::sc_vector<tlm::tlm_initiator_socket<32, issue_protocol_types>> shared_dispatch_socket;  // as shared_unit

  /// Lanes beside those of its own fp32 unit, for the second instruction of a pair. Only where fp32.shared_lanes is not
  /// 0.
  void share_fp32(shared_lanes& lanes) { shared_lanes_ = &lanes; }
  /// What the warp in the slot was told by begin_system_fence has come to pass.
  void system_fence_performed(unsigned slot, cycle_t cycle);
  /// Places a warp of `block` in a free slot; it is active from `cycle` on.
  void place_warp(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                  unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle);

  // A context switch (sub_partition_switch.cpp): stop, exchange, swap_out; swap_in, exchange, resume.
  /// The slot's warp issues nothing from `cycle` on. One that has exited ends by itself.
  void stop(unsigned slot, cycle_t cycle);
  /// Instructions of the slot's warp are on their way.
  bool outstanding(unsigned slot) const { return slots_[slot].loads + slots_[slot].stores != 0; }
  /// When the results of all its other instructions are there.
  cycle_t settled(unsigned slot) const {
    return slots_[slot].program->control_codes ? dependence_counters.settled(slot)
                                               : scoreboard.settled(slot, slots_[slot].program->scoreboard_registers);
  }
  /// Writes a stopped warp to a context, or takes it from there. Throws program_error when that is no warp of this
  /// program.
  void exchange(unsigned slot, simt::context_image& image);
  /// The stopped warp is in memory: frees the slot, and leaves nothing of it here.
  void swap_out(unsigned slot, cycle_t cycle);
  /// Reserves the slot for a warp that comes back; it is active from `cycle` on, and stopped.
  void swap_in(unsigned slot, const resident_launch& launch, const simt::block_context& block, unsigned warp_in_block,
               unsigned allocated_registers, cycle_t cycle);
  /// The stopped warp may issue from `cycle` on.
  void resume(unsigned slot, cycle_t cycle);

  /// Independent lanes of `mask`, active in the slot's warp, wait at barrier `number`.
  void stop_at_barrier(unsigned slot, simt::lane_mask mask, unsigned number);
  /// Barrier `number`, at which the slot's warp or lanes of it wait, has completed; a warp that can do nothing else
  /// goes on at `cycle`.
  void resume_from_barrier(unsigned slot, unsigned number, cycle_t cycle);
  /// Gives those that wait at a reducing barrier its result: of `threads` that came, `count` had the predicate true.
  void deliver_reduction(unsigned slot, unsigned number, std::uint32_t count, std::uint32_t threads);
  simt::warp_state& warp(unsigned slot) { return slots_[slot].state; }
  unsigned index() const { return index_; }
  /// What SYSCALL works on outside the SM; without it programs that call the device runtime cannot run.
  void use(program_services* services) { services_ = services; }
  /// Nothing is issued in the cycle behind `cycle`.
  void skip_issue(cycle_t cycle) { scheduler.stall(cycle + 1, cycle + 2); }
  /// Nothing is issued any more: the simulated program failed.
  void halt() { halted_ = true; }
  /// The slot's instruction fails: reports kernel, PTX line, block and the thread of `lane`.
  void fault(unsigned slot, unsigned lane, const std::string& what) { fault(slot, *slots_[slot].next, lane, what); }
  warp_phase phase(unsigned slot) const { return slots_[slot].phase; }
  unsigned slots() const { return static_cast<unsigned>(slots_.size()); }
  /// Where the slot's warp stands, for messages: "file.ptx:12:5".
  std::string position(unsigned slot) const;
  /// What each group of the warp's lanes waits for and where, for messages: "lanes 0x0000ffff, waits at barrier 1,
  /// file.ptx:12:5". `barrier`: the one at which the warp waits as a whole, if it does.
  std::vector<std::string> standing(unsigned slot, unsigned barrier) const;
  /// What goes on in each cycle from `first` to `last`, both included, for a view of it; as long as the sub-partition.
  const partition_signals& watch(cycle_t first, cycle_t last) const;
  /// Has `observer` told of memory instructions from now on; null: nobody.
  void observe(instruction_observer* observer) { observer_ = observer; }
  /// Whose the slot's warp is, for messages: "block (0,0,0) of kernel 'k'".
  std::string owner(unsigned slot) const;
  /// The slot's warp follows a recording.
  bool recorded(unsigned slot) const { return slots_[slot].step != nullptr; }
  /// Of what the slot's warp computes with: registers, predicates, where its lanes are. Equal states have equal ones.
  std::uint64_t fingerprint(unsigned slot);
  /// Since when the slot's warp has its next instruction before it: another cycle each time that it has issued one.
  cycle_t settled_at(unsigned slot) const { return slots_[slot].fetch_at; }
  /// Adds what the active warps have spent up to `cycle` (exclusive) to the counters.
  void settle_accounts(cycle_t cycle);

  void on_cycle(cycle_t cycle) override;
  void prefetch_hint(cycle_t cycle, bool distant) const override;
  tlm::tlm_sync_enum nb_transport_bw(lsu_transaction& t, lsu_phase& phase, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void trace(sc_core::sc_trace_file* file) const override;

  bool idle() const { return active_ == 0 && operations_.in_use() == 0; }
  void check_invariants() const;
  per_launch<issue_counters> counters;
  /// Counts by instruction go there from now on, beside those of the SM's other sub-partitions; without it, to profiles
  /// of its own.
  void share_profiles(per_launch<launch_profile>& profiles) { profiles_ = &profiles; }
  /// States of all warps that a slot has held, by slot; empty without sub_partition.states_by_warp.
  std::vector<state_counts> states_by_slot;

  warp_scheduler scheduler;
  class fetch fetch;
  class scoreboard scoreboard;
  class dependence_counters dependence_counters;
  class register_file register_file;
  class immediate_constants immediate_constants;
  std::deque<execution_unit> units;
  sc_core::sc_vector<execution_unit> shared_unit;  // fp32 on lanes that the SM's sub-partitions share: one, or none

 private:
  friend class partition_signals;  // which looks at it
  // Units answer within the dispatch; the backward path is there because a socket has one.
  struct unit_answers : tlm::tlm_bw_transport_if<issue_protocol_types> {
    tlm::tlm_sync_enum nb_transport_bw(issue_transaction&, tlm::tlm_phase&, sc_core::sc_time&) override {
      return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  };
  // Three cache lines serve nearly every instruction: the state's first one, and these two.
  struct alignas(64) warp_slot {
    const decoded_instruction* next = nullptr;  // instruction at state.pc
    const decoded_program* program = nullptr;
    issue_counters* counters = nullptr;
    launch_profile* profile = nullptr;  // of the launch on this SM
    cycle_t mark = 0;                   // accounted up to here
    cycle_t fetch_at = 0;               // next instruction in the buffer from here on
    cycle_t constant_at = 0;            // its constant operand from here on
    cycle_t timer = never;              // on_timer is due
    const resident_launch* launch = nullptr;
    const isa::execution_record* step =
        nullptr;  // of a recorded warp: the one at state.pc; null: the warp executes its program
    const isa::execution_record* last_step = nullptr;  // of its piece
    const isa::recorded_segment* piece = nullptr;      // of a recorded warp: the steps around the one at state.pc
    unsigned loads = 0;                                // outstanding loads, atomics
    unsigned stores = 0;                               // outstanding stores, reductions
    std::uint32_t sequence = 0;  // phases at_fence, sleeping, replaying: the instruction behind the one that waits
    simt::lane_mask barrier_lanes = 0;  // of a recorded warp: those that wait at the barrier, while others may go on
    warp_phase phase = warp_phase::empty;
    producer waits_for = producer::fixed;       // phase waiting: slowest producer of the operands
    warp_phase stopped_in = warp_phase::empty;  // phase stopped: what it did before
    bool redirected = false;                    // the fetch in progress follows a change of direction
    bool jumps = false;                         // may go on elsewhere than in sequence after any instruction
    launch_profile::line* line = nullptr;       // of the next instruction in the profile
    simt::warp_state state;
    cycle_t rest = never;  // phase stopped: for how long it would have gone on waiting, if that was known
    cycle_t placed_at = 0;
    unsigned queued = 0;          // transactions of stores whose data the load/store unit has not taken
    std::uint16_t residency = 0;  // which of the warps that the slot has held
    unsigned fence_scope = 0;     // phase at_fence: MEMBAR's
    bool fence_begun = false;     // phase at_fence: all slices of the L2 have been asked
    std::shared_ptr<const isa::recorded_segment> held_segment;  // keeps the piece in memory
  };

  // A warp that is gone, and whose stores are not all acknowledged: its slot may hold another by now.
  struct departed_warp {
    unsigned slot = 0;
    std::uint16_t residency = 0;
    unsigned stores = 0;
    std::uint64_t block = 0;  // as the supervisor names it
    const resident_launch* launch = nullptr;
    simt::dim3 index;  // of its block in the grid
    std::uint32_t warp_in_block = 0;
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
  cycle_t next_timer(cycle_t cycle) const;
  void schedule(cycle_t cycle);
  void finish(unsigned slot, cycle_t cycle);
  std::vector<departed_warp>::iterator departed(unsigned slot, std::uint16_t residency);
  void settle_store(unsigned slot, std::uint16_t residency, cycle_t cycle);
  void hold_memory(cycle_t cycle);

  void prefetch_warp(unsigned slot) const;

  // Dependence: the scoreboard, or the counters that the program's control codes name.
  scoreboard::answer operands(unsigned slot, const decoded_instruction& d) const {
    return slots_[slot].program->control_codes ? dependence_counters.probe(slot, d) : scoreboard.probe(slot, d);
  }
  void set_ready(unsigned slot, const decoded_instruction& d, cycle_t cycle) {
    if (slots_[slot].program->control_codes) dependence_counters.set_ready(slot, d, cycle);
    if (keeps_scoreboard(slot)) scoreboard.set_ready(slot, *d.instruction, cycle, d.result, d.guard_cycles);
  }
  void set_pending(unsigned slot, const decoded_instruction& d, producer kind) {
    if (slots_[slot].program->control_codes) dependence_counters.set_pending(slot, d, kind);
    if (keeps_scoreboard(slot)) scoreboard.set_pending(slot, *d.instruction, kind);
  }
  void release(unsigned slot, const decoded_instruction& d, cycle_t cycle, producer kind) {
    if (slots_[slot].program->control_codes) dependence_counters.release(slot, d, cycle);
    if (keeps_scoreboard(slot)) scoreboard.set_ready(slot, *d.instruction, cycle, kind);
  }
  // With tlm.check the scoreboard is kept beside control codes, and no instruction may issue before it says so.
  bool keeps_scoreboard(unsigned slot) const { return !slots_[slot].program->control_codes || checks_codes_; }
  void check_codes(unsigned slot, const decoded_instruction& d, cycle_t cycle) const {
    invariant(scoreboard.probe(slot, d).cycle <= cycle,
              "control codes let an instruction issue before its operands were ready");
  }

  // Accounting (sub_partition.cpp)
  /// The warp's next instruction is the one at `pc`.
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
  /// What a ready warp's cycles with its unit's input held are called.
  static warp_stall busy_stall(const decoded_instruction& d) {
    if (d.unit == isa::unit::texture) return warp_stall::tex_throttle;
    if (d.unit != isa::unit::ldst) return warp_stall::math_pipe_throttle;
    return d.global_access ? warp_stall::lg_throttle : warp_stall::mio_throttle;
  }

  // Issue (sub_partition_issue.cpp)
  void issue_from(unsigned slot, cycle_t cycle);
  bool pairs(const decoded_instruction& first, unsigned slot, cycle_t cycle);
  void issue_conflicting(unsigned slot, const decoded_instruction& d, cycle_t cycle);
  /// Issues the slot's next instruction; returns true if the warp went on in sequence and may issue a second one.
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

  // Control flow: computed, or read from a recording (sub_partition_recorded.cpp)
  void advance(warp_slot& w) {
    if (__builtin_expect(w.step != nullptr, 0)) next_step(w);
    else simt::advance(w.state);
  }
  /// Having issued, the warp does not go on at `sequence`, the next instruction on the straight line.
  static bool leaves(const warp_slot& w, std::uint32_t sequence) { return w.jumps && w.state.pc != sequence; }
  static void next_step(warp_slot& w) {
    ++w.step;
    if (__builtin_expect(w.step == w.last_step, 0) && !w.piece->ends)
      seek(w, w.piece->position + static_cast<std::uint64_t>(w.step - w.piece->first));
    w.state.pc = w.step->instruction;
    w.state.active = w.step->mask;
  }
  /// 32-lane registers of a warp that hold values: recordings have none.
  static unsigned registers_kept(const resident_launch& l) { return l.recording ? 0 : l.program->registers; }
  void follow(warp_slot& w, const isa::recorded_block* recording) const;
  static bool seek(warp_slot& w, std::uint64_t position);
  static bool lanes_go_on(const warp_slot& w);
  static void recorded_addresses(const warp_slot& w, lsu_transaction& t);
  static bool recorded_branch(warp_slot& w, simt::lane_mask mask);
  void recorded_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle);
  void recorded_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle);

  // Independent lanes (sub_partition_lanes.cpp)
  /// When the instruction at the slot's pc is in the buffer, the one at `sequence` being the next on the straight line.
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
  /// Further issues that the access costs where each of its passes goes through the issue stage
  /// (sub_partition_replay.cpp).
  void count_replays(const warp_slot& w, const lsu_transaction& t);
  void replay(unsigned slot, std::uint32_t sequence, cycle_t cycle);
  void split(lsu_transaction& first);
  void send(lsu_transaction& t);
  void update_gate(cycle_t cycle);
  void complete(lsu_transaction& t, cycle_t cycle);

  enum class pairing : std::uint8_t { none, any, maxwell };

  const gpu_config& config_;  // outlives the sub-partition, as its SM does
  const bool checks_codes_;   // tlm.check
  // From here to halted_: what every instruction touches, in as few cache lines as it takes.
  alignas(64) std::vector<warp_slot> slots_;
  clock_port clock_;
  std::uint64_t active_ = 0;  // slots that hold a warp
  std::uint64_t held_ = 0;    // of these, ready ones that the policy keeps from the memory
  // Timers: a wheel of 64 cycles, each a mask of slots; further ones in a mask.
  std::uint64_t wheel_occupied_ = 0;
  std::uint64_t far_timers_ = 0;
  cycle_t replays_until_ = 0;     // the issue slots before are taken by replays
  unsigned pending_replays_ = 0;  // of the instructions being issued
  warp_supervisor& supervisor_;
  shared_lanes* shared_lanes_ = nullptr;
  tlm::tlm_fw_transport_if<lsu_protocol_types>* lsu_ = nullptr;
  unsigned sm_id_;
  unsigned index_;
  unsigned credits_;
  unsigned textures_ = 0;      // texture and surface instructions under way
  bool texture_full_ = false;  // no more of them are taken, or again, from texture_changed_ on
  cycle_t texture_changed_ = 0;
  const pairing pairing_;           // none also when the issue width is 1
  const bool replays_;              // a memory instruction's further passes are further issues
  const bool independent_;          // lanes have their own program counters
  const bool read_window_;          // operands are read in a fixed window, not collected
  const bool by_warp_;              // states_by_slot is kept
  bool codes_ = false;              // the warp placed last depends as control codes tell
  const bool software_;             // dependence as control codes tell, but for recorded programs
  const bool fp64_alone_;           // an fp64 instruction takes the others' issue cycle, too
  std::uint16_t shared_units_ = 0;  // units that the SM's sub-partitions have together, bit per unit
  const decoded_instruction* reuses_ =
      nullptr;              // the instruction behind the last arithmetic one, whose operands the reuse cache holds
  unsigned last_slot_ = 0;  // and that one's warp
  const decoded_instruction* to_shared_ = nullptr;  // of the pair being issued, the one for the shared lanes
  // As of the last issue, for observers.
  unsigned issued_ = 0;        // instructions issued in the last active cycle
  cycle_t issued_at_ = never;  // the cycle of the last issue
  unsigned issued_warp_ = 0;
  std::uint32_t issued_pc_ = 0;
  simt::lane_mask issued_mask_ = 0;
  bool halted_ = false;
  // What the dispatch sockets are bound to, looked up once: the way through port and export costs a cache miss per
  // issue.
  std::array<tlm::tlm_fw_transport_if<issue_protocol_types>*, static_cast<std::size_t>(isa::unit::count)>
      dispatch_to_{};

  std::array<std::uint64_t, 64> wheel_{};
  memory_operation_pool operations_;
  std::vector<departed_warp> departed_;
  std::deque<lsu_transaction*> backlog_;  // transactions of split instructions that wait for credits
  program_services* services_ = nullptr;
  per_launch<launch_profile> own_profiles_;
  per_launch<launch_profile>* profiles_ = &own_profiles_;
  bank_conflicts banks_;
  class write_ports write_ports_;
  unit_answers unit_answers_;
  unsigned conflicts_ = 0;        // cycles that the operands of the last instruction with a bank conflict took more
  cycle_t conflicts_at_ = never;  // its issue
  mutable std::unique_ptr<partition_signals> signals_;  // only while somebody looks
  instruction_observer* observer_ = nullptr;
};

}  // namespace heddle

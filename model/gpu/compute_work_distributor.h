// SPDX-License-Identifier: MIT
// Models: the Compute Work Distributor: grids of several streams, their blocks placed on SMs by resources and priority.
// Sockets: cta_socket[i] (initiator), one per SM.
// One cycle: takes completions that arrive, then dispatches one block of the most urgent grid that fits somewhere.
// Parameters: [cwd]. Source: ARCHITECTURE section 4 "A CTA".
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "config/parameters.h"
#include "gpu/placement_policy.h"
#include "occupancy/sm_resources.h"
#include "sub_partition/decoded_program.h"
#include "tlm/clock_domain.h"
#include "tlm/cta_protocol.h"

namespace heddle {

/// A grid from its doorbell to its end, and after: the record of a launch.
struct grid_record {
  std::shared_ptr<const resident_launch> launch;
  block_footprint footprint;        // what each of its blocks takes
  cycle_t doorbell_cycle = 0;
  cycle_t ready_cycle = 0;          // from when its blocks may be dispatched
  cycle_t start_cycle = 0;          // first block placed on an SM
  cycle_t end_cycle = 0;            // the last block's completion taken
  std::uint64_t dispatched = 0;
  std::uint64_t block_cycles = 0;   // that its completed blocks spent on SMs, all together
  std::uint64_t completed = 0;
  bool finished = false;
  std::uint64_t blocks() const { return launch->recording ? launch->recording->blocks() : launch->grid.count(); }
};

/// Who hears of the end of a grid, or of the simulated program's failure.
class grid_listener {
 public:
  virtual ~grid_listener() = default;
  virtual void grid_finished(const grid_record& grid, cycle_t cycle) = 0;
  virtual void program_fault(const std::string& text) = 0;
  /// Whether blocks of the launch may be dropped on the way and run anew with the same result.
  virtual bool idempotent(const resident_launch&) { return false; }
};

/// A request that blocks leave SMs before their time.
struct preempt_request {
  std::vector<unsigned> sms;
  preemption_mode mode = preemption_mode::context_switch;
  cycle_t resume_after = 0;         // from the SM's saved cycle to the request that brings the blocks back
};

/// A preemption of one SM, from its request on, and after: the record of it.
struct context_in_flight : context_transaction {
  cycle_t resume_after = 0;
  cycle_t resume_cycle = never;     // when the blocks are wanted back; known once they have left
  std::uint32_t waits_for = no_launch;  // they are wanted back when all blocks of this launch have been dispatched
  static constexpr std::uint32_t no_launch = 0xffffffff;
  bool saved = false;               // the blocks are away
  bool resumed = false;
};

class compute_work_distributor : public sc_core::sc_module, public clocked, public cta_bw_if {
 public:
  compute_work_distributor(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config, grid_listener& listener);
  ~compute_work_distributor() override;

  sc_core::sc_vector<tlm::tlm_initiator_socket<32, cta_protocol_types>> cta_socket;

  /// A doorbell: the grid runs after those of its stream. Its number is launch->launch_id (0, 1, 2 …).
  void submit(std::shared_ptr<const resident_launch> launch);
  /// Blocks that run on the SMs when the request reaches them leave, and come back. SMs that hold none are left alone; one in the
  /// middle of another switch first ends that.
  void preempt(const preempt_request& request);
  /// All preemptions of SMs that held blocks, in the order of their requests.
  const std::deque<std::unique_ptr<context_in_flight>>& context_switches() const { return contexts_; }
  const std::deque<grid_record>& grids() const { return grids_; }
  /// Grids in the order in which their last block was dispatched.
  const std::vector<std::uint32_t>& dispatch_order() const { return dispatch_order_; }
  std::uint64_t blocks_submitted() const { return blocks_submitted_; }
  std::uint64_t blocks_completed() const { return blocks_completed_; }
  bool idle() const { return unfinished_ == 0; }
  void check_invariants() const;
  /// Dispatches nothing more.
  void halt() { halted_ = true; }

  void on_cycle(cycle_t cycle) override;
  tlm::tlm_sync_enum nb_transport_bw(cta_transaction& t, cta_phase& phase, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  struct sm_account {
    sm_resources resources;
    std::uint64_t blocks = 0;       // resident, as the CWD reckons
    std::deque<context_in_flight*> requests;   // preemptions that have not begun
    std::vector<context_in_flight*> away;      // whose blocks have left, oldest first
    context_in_flight* draining = nullptr;     // its blocks run to their end
    cycle_t slice_start = 0;        // since when the blocks that are resident have been, the first of them
    bool switching = false;         // the SM has been told to save or restore and has not answered
    explicit sm_account(const gpu_config& config) : resources(config) {}
  };
  struct block_in_flight : cta_transaction {
    block_allocation allocation;
    cycle_t since = 0;              // when it was sent to its SM; later by the time that it was away
    bool resident = false;          // on its SM, or on the way to or from there
  };
  // The blocks that an SM holds, as far as it matters who makes room for whom.
  struct residents {
    bool any = false;
    std::int32_t most_urgent = 0;
    std::vector<std::uint32_t> streams;
  };
  struct arrival {
    cycle_t cycle;
    cta_transaction* transaction;
    cta_phase phase;
  };

  void take_arrivals(cycle_t cycle);
  void complete(block_in_flight& b, cycle_t cycle);
  bool accepts(unsigned sm, const grid_record& g) const;
  bool dispatch_one(cycle_t cycle);
  void dispatch(grid_record& g, unsigned sm, cycle_t cycle);
  /// Grids that may dispatch now: the first unfinished one of each stream, most urgent first.
  void refresh_candidates();
  void schedule(cycle_t cycle);

  // Context switches (compute_work_distributor_switch.cpp)
  void drive_switches(cycle_t cycle);
  void begin_switch(unsigned sm, cycle_t cycle);
  void tell(unsigned sm, context_in_flight& c, cta_phase phase, cycle_t cycle);
  void saved(context_in_flight& c, cycle_t cycle);
  void resumed(context_in_flight& c, cycle_t cycle);
  void note_drained(sm_account& a, const block_in_flight& b, cycle_t cycle);
  bool bring_back(unsigned sm, cycle_t cycle);
  cycle_t next_switch(cycle_t cycle) const;
  void set_resume_cycle(context_in_flight& c, cycle_t saved, cycle_t now);
  void ask(unsigned sm, preemption_mode mode, cycle_t now, cycle_t resume_after, std::uint32_t waits_for);
  // What a preemption costs (compute_work_distributor_cost.cpp)
  preemption_mode cheapest(unsigned sm, cycle_t now) const;
  bool can_flush(unsigned sm) const;
  double switch_cycles(unsigned sm) const;
  // Who makes room for whom (compute_work_distributor_room.cpp)
  void make_room(cycle_t cycle);
  void make_room_by_priority(const grid_record& g, const std::vector<residents>& on, cycle_t cycle);
  void make_room_by_slice(const grid_record& g, const std::vector<residents>& on, cycle_t cycle);
  std::vector<residents> all_residents() const;
  bool may_be_asked(const sm_account& a) const;
  cycle_t slice_end(const sm_account& a) const;

  const gpu_config config_;
  grid_listener& listener_;
  clock_port clock_;
  std::vector<sm_account> accounts_;
  std::unique_ptr<placement_policy> placement_;
  std::deque<grid_record> grids_;                             // by launch number
  std::map<std::uint32_t, std::deque<std::uint32_t>> streams_; // unfinished launches by stream
  std::vector<std::uint32_t> candidates_;
  std::vector<std::uint32_t> dispatch_order_;
  std::vector<arrival> arrivals_;
  std::deque<std::unique_ptr<context_in_flight>> contexts_;
  unsigned switches_ = 0;           // of these, not yet ended
  std::vector<std::unique_ptr<block_in_flight>> blocks_;
  std::vector<block_in_flight*> free_blocks_;
  cycle_t next_dispatch_ = 0;
  bool blocked_ = false;            // nothing fits until a completion, a new grid or a grid's readiness
  unsigned unfinished_ = 0;
  std::uint64_t blocks_submitted_ = 0;
  std::uint64_t blocks_completed_ = 0;
  bool halted_ = false;
};

}  // namespace heddle

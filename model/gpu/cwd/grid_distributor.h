// SPDX-License-Identifier: MIT
// Models: what a GPU asks of its Compute Work Distributor, and the records that it keeps for metrics; whoever replaces
// the CWD derives
//   from it (gpu_blocks.h).
// Sockets: cta_socket[i] (initiator), one per SM, to be bound by the one that derives.
// One cycle: that of the one that derives.
// Parameters: gpu.sm_count.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/occupancy/sm_resources.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/protocol/cta_protocol.h"

namespace heddle {

/// A grid from its doorbell to its end, and after: the record of a launch.
struct grid_record {
  std::shared_ptr<const resident_launch> launch;
  block_footprint footprint;  // what each of its blocks takes
  cycle_t doorbell_cycle = 0;
  cycle_t ready_cycle = 0;  // from when its blocks may be dispatched
  cycle_t start_cycle = 0;  // first block placed on an SM
  cycle_t end_cycle = 0;    // the last block complete, and the last store acknowledged
  std::uint64_t dispatched = 0;
  std::uint64_t block_cycles = 0;  // that its completed blocks spent on SMs, all together
  cycle_t longest_block = 0;       // that one of them spent
  std::uint64_t completed = 0;
  std::uint64_t unsettled = 0;  // of them, those with stores that are not acknowledged
  bool finished = false;
  std::uint64_t blocks() const { return launch->recording ? launch->recording->blocks() : launch->grid.count(); }
};

/// Preemptions of single SMs: a request that names ten SMs asks ten times. What was asked and did neither is still to
/// begin.
struct preempt_counts {
  std::uint64_t asked = 0;            // by jobs and hosts, for launches of higher priority, for time slices
  std::uint64_t found_no_blocks = 0;  // when their turn came: dropped, without an entry among the context switches
};

/// Who hears of the end of a grid, or of the simulated program's failure.
class grid_listener {
 public:
  virtual ~grid_listener() = default;
  virtual void grid_finished(const grid_record& grid, cycle_t cycle) = 0;
  virtual void program_fault(const std::string& text) = 0;
  /// The same, and the text also says what lies in memory.
  virtual void program_fault_with(const std::string& text, const fault_details& details) {
    static_cast<void>(details);
    program_fault(text);
  }
  /// Whether blocks of the launch may be dropped on the way and run anew with the same result.
  virtual bool idempotent(const resident_launch&) { return false; }
};

/// A request that blocks leave SMs before their time.
struct preempt_request {
  std::vector<unsigned> sms;
  preemption_mode mode = preemption_mode::context_switch;
  cycle_t resume_after = 0;  // from the SM's saved cycle to the request that brings the blocks back
};

/// A preemption of one SM, from its request on, and after: the record of it.
struct context_in_flight : context_transaction {
  cycle_t resume_after = 0;
  cycle_t resume_cycle = never;         // when the blocks are wanted back; known once they have left
  std::uint32_t waits_for = no_launch;  // they are wanted back when all blocks of this launch have been dispatched
  static constexpr std::uint32_t no_launch = 0xffffffff;
  const context_in_flight* first =
      nullptr;         // of the parts of one request, where its blocks leave in different modes; or null
  bool saved = false;  // the blocks are away
  bool resumed = false;
};

/// The SMs speak cta_protocol.h. A dispatch cannot be refused, so a CWD has to know what fits an SM:
/// occupancy/sm_resources.h reckons it.
class grid_distributor : public sc_core::sc_module {
 public:
  sc_core::sc_vector<tlm::tlm_initiator_socket<32, cta_protocol_types>> cta_socket;

  /// A doorbell: the grid runs after those of its stream. Its number is launch->launch_id (0, 1, 2 …). Its end is told
  /// to the grid_listener that the CWD was made with.
  virtual void submit(std::shared_ptr<const resident_launch> launch) = 0;
  /// Blocks that run on the SMs when the request reaches them leave, and come back. Without an implementation: throws
  /// input_error.
  virtual void preempt(const preempt_request& request);
  /// Throws internal_error when an account does not add up.
  virtual void check_invariants() const {}
  /// Blocks that wait for a place on an SM, one line each beginning with a line's end: for a report of a program that
  /// cannot end.
  virtual std::string who_waits() const { return {}; }
  /// A fault has ended the run: dispatch nothing more.
  virtual void halt() = 0;
  /// All that it does by itself happens in cycles that it asked its clock domain for; then a GPU whose clocks have
  /// nothing to do is known to be stuck.
  virtual bool works_by_clock() const { return false; }
  /// Something that has been asked for begins by itself in a cycle that is to come.
  virtual bool waits_for_time(cycle_t now) const { return static_cast<void>(now), false; }
  /// The last cycle by which nothing reaches the SM that the CWD sends after its cycle `now`, unless in answer to what
  /// that SM sends from now on. `requests`: whether anybody may call preempt(). Who does not know answers `now`.
  virtual cycle_t nothing_arrives_until(unsigned sm, cycle_t now, bool requests) const {
    (void)sm, (void)requests;
    return now;
  }

  /// All preemptions of SMs that held blocks, in the order of their requests.
  const std::deque<std::unique_ptr<context_in_flight>>& context_switches() const { return contexts_; }
  const preempt_counts& preempt_requests() const { return preempt_counts_; }
  const std::deque<grid_record>& grids() const { return grids_; }
  /// Grids in the order in which their last block was dispatched.
  const std::vector<std::uint32_t>& dispatch_order() const { return dispatch_order_; }
  std::uint64_t blocks_submitted() const { return blocks_submitted_; }
  std::uint64_t blocks_completed() const { return blocks_completed_; }
  bool idle() const { return unfinished_ == 0; }

 protected:
  grid_distributor(sc_core::sc_module_name name, const gpu_config& config);

  std::deque<grid_record> grids_;  // by launch number
  std::vector<std::uint32_t> dispatch_order_;
  std::deque<std::unique_ptr<context_in_flight>> contexts_;
  preempt_counts preempt_counts_;
  unsigned unfinished_ = 0;  // grids
  std::uint64_t blocks_submitted_ = 0;
  std::uint64_t blocks_placed_ = 0;  // sent to an SM
  std::uint64_t blocks_completed_ = 0;
};

}  // namespace heddle

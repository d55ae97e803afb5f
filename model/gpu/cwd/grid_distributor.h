// SPDX-License-Identifier: MIT
// Models: the interface that a GPU expects of its Compute Work Distributor, and the records for metrics; a replacement
//   of the CWD derives from it (gpu_blocks.h).
// Sockets: cta_socket[i] (initiator), one per SM; the derived class binds them.
// One cycle: defined by the derived class.
// Parameters: gpu.sm_count.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/gpu/cwd/block_sample.h"
#include "heddle/occupancy/sm_resources.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/protocol/cta_protocol.h"

namespace heddle {

class block_sampler;
class ended_profile;

/// The record of a launch, kept from its doorbell on, also after its end.
struct grid_record {
  std::shared_ptr<const resident_launch> launch;
  block_footprint footprint;  // resources of each block
  cycle_t doorbell_cycle = 0;
  cycle_t ready_cycle = 0;  // from which its blocks may be dispatched
  cycle_t start_cycle = 0;  // first block placed on an SM
  cycle_t end_cycle = 0;    // last block complete and last store acknowledged
  cycle_t ends_cycle = 0;   // in which the CWD processes the end of its last complete block
  std::uint64_t dispatched = 0;
  std::uint64_t block_cycles = 0;  // sum over its completed blocks of the cycles spent on SMs
  cycle_t longest_block = 0;       // longest time that a completed block spent on an SM
  std::uint64_t completed = 0;
  std::uint64_t unsettled = 0;     // completed blocks with stores that are not acknowledged
  std::uint64_t released = 0;      // blocks that let the next launch of the stream begin, or are complete
  bool early = false;              // it may begin, and the launch before it in its stream has not ended
  cycle_t prerequisite_cycle = 0;  // end of the launch before, if the grid was early until then
  bool resident = false;           // its blocks may be dispatched from ready_cycle on, or have been
  bool finished = false;
  bool terminated = false;                                // the host has ended it: no further block is dispatched
  std::uint64_t dropped = 0;                              // its blocks that have left their SMs for that
  bool abandoned = false;                                 // a reset or the host has ended it; finished, too
  std::shared_ptr<block_sampler> sampler;                 // null: no blocks are left out
  std::uint64_t left_out = 0;                             // its last blocks, which are not dispatched
  block_sample sample;                                    // what the others tell of them, if it has ended
  std::shared_ptr<const isa::recorded_block> next_block;  // of a recorded launch: what the next dispatch carries
  std::shared_ptr<const ended_profile> ended;             // the SMs no longer have its counts by instruction; else null
  [[nodiscard]] std::uint64_t blocks() const { return launch->blocks(); }
  /// Blocks that are still to be dispatched.
  [[nodiscard]] std::uint64_t waiting() const { return terminated ? 0 : blocks() - left_out - dispatched; }
  void exchange(state_image& image);
  /// All its blocks are complete, or dropped, and their stores acknowledged.
  [[nodiscard]] bool done() const { return waiting() == 0 && completed + dropped == dispatched && unsettled == 0; }
};

/// The launch's program calls the device runtime (printf, malloc, free), whose state all SMs share.
bool calls_runtime(const resident_launch& launch);

/// Preemptions of single SMs: a request that names ten SMs counts ten times. The difference to those that found no
/// blocks and those recorded as context switches has not begun yet.
struct preempt_counts {
  std::uint64_t asked = 0;            // by jobs and hosts, for launches of higher priority, for time slices
  std::uint64_t found_no_blocks = 0;  // dropped when they were to begin, without a record among the context switches
};

/// The SMs that hold blocks of a client's launches, those included that are switched out. Clients are processes that
/// share the GPU.
struct client_use {
  std::uint32_t sms = 0;
  std::uint32_t most_sms = 0;         // so far
  std::vector<std::uint32_t> blocks;  // by SM
  void exchange(state_image& image) { image(sms, most_sms, blocks); }
};

/// Receives the course of each grid and the simulated program's failure. The host hands over the blocks of a recorded
/// launch (grid_distributor::hand_over), the first one when the grid has become resident, each further one when the one
/// before has been dispatched.
class grid_observer {
 public:
  virtual ~grid_observer() = default;
  virtual void grid_resident(const grid_record& grid) { static_cast<void>(grid); }
  virtual void block_dispatched(const grid_record& grid) { static_cast<void>(grid); }
  /// The blocks of the grid that were left out take effect, without timing; the others have ended. None: the
  /// program has failed, or was stopped.
  virtual std::optional<executed_blocks> execute_left_out(const grid_record& grid) {
    return static_cast<void>(grid), std::nullopt;
  }
  virtual void grid_finished(const grid_record& grid, cycle_t cycle) = 0;
  virtual void program_fault(const std::string& text) = 0;
  /// As program_fault; `details`: further parts of the text, which lie in device memory.
  virtual void program_fault_with(const std::string& text, const fault_details& details) {
    static_cast<void>(details);
    program_fault(text);
  }
  /// True if blocks of the launch may be dropped halfway and restarted with the same result.
  virtual bool idempotent(const resident_launch&) { return false; }
};
using grid_listener = grid_observer;  // the name until November 28, for models outside this repository

/// A request to free SMs of their blocks for a time.
struct preempt_request {
  std::vector<unsigned> sms;
  preemption_mode mode = preemption_mode::context_switch;
  cycle_t resume_after = 0;  // from the SM's saved cycle to the request to restore the blocks
};

/// The record of one SM's preemption, kept from its request on, also after its end.
struct context_in_flight : context_transaction {
  cycle_t resume_after = 0;
  cycle_t resume_cycle = never;         // when the blocks are due to return; known once they have left
  std::uint32_t waits_for = no_launch;  // they are due when all blocks of this launch have been dispatched
  static constexpr std::uint32_t no_launch = 0xffffffff;
  const context_in_flight* first = nullptr;  // first part of a request that was divided by mode; else null
  std::uint32_t group = 0;                   // of switches that happen together; 0: none
  bool joined = false;                       // in a group, for the clusters of another SM that was asked
  std::vector<std::uint64_t> lost_cycles;    // flush: of each block, how long it had run
  bool saved = false;                        // the blocks have left the SM
  bool resumed = false;

  /// But for `first` and `executed`.
  void exchange(state_image& image);
};

/// The protocol to the SMs is cta_protocol.h. A dispatch cannot be refused, so a CWD must know what fits on an SM:
/// occupancy/sm_resources.h computes it.
class grid_distributor : public sc_core::sc_module {
 public:
  std::deque<direct_initiator_socket<cta_protocol_types>> cta_socket;

  /// A doorbell: the grid runs after the earlier ones of its stream. Its number is launch->launch_id (0, 1, 2 …). Its
  /// end is reported to the grid_observer that the CWD was constructed with.
  virtual void submit(std::shared_ptr<const resident_launch> launch) = 0;
  /// The block that the next dispatch of a recorded launch carries. The CWD holds one block of each grid.
  void hand_over(std::uint32_t launch, std::shared_ptr<const isa::recorded_block> block);
  /// Keeps the counts by instruction of a launch that has ended, which the SMs forget.
  void keep(std::uint32_t launch, std::shared_ptr<const ended_profile> counts);
  /// Blocks that run on the SMs when the request reaches them leave and are restored later. The default throws
  /// input_error.
  virtual void preempt(const preempt_request& request);
  /// From now on blocks of launches that run alone are left out when the others tell the cycles of all with a relative
  /// error below `error` (block_sampler.h). `l2` must outlive it. The default throws input_error.
  virtual void sample_blocks(double error, sampled_cache& l2);
  /// Whether terminate() is implemented.
  [[nodiscard]] virtual bool terminates() const { return false; }
  /// Ends launches of these numbers: no further block of theirs is dispatched, and their blocks leave the SMs without
  /// being saved. Called while no SM is simulated ahead.
  virtual void terminate(const std::vector<std::uint32_t>& launches) { static_cast<void>(launches); }
  /// Its state can be described now. A CWD that does not describe it returns false: no checkpoint is taken of its GPU.
  [[nodiscard]] virtual bool has_image() const { return false; }
  /// An image is read when the same launches have been submitted again. Names the launches and their programs, and the
  /// transactions to and from the SMs.
  virtual void exchange(state_image& image);
  /// Throws internal_error if an account does not add up.
  virtual void check_invariants() const {}
  /// Describes the blocks that wait for a place on an SM, each line preceded by a line break, for the report of a
  /// program that cannot end.
  [[nodiscard]] virtual std::string waiting_blocks_text() const { return {}; }
  /// A fault has ended the run: nothing more is dispatched.
  virtual void halt() = 0;
  /// Whether abandon(), abandoned() and restart() are implemented; without them the GPU cannot be reset.
  [[nodiscard]] virtual bool resettable() const { return false; }
  /// For a reset: drops all launches. Their blocks leave the SMs, and the observer is notified of them no more. It
  /// takes until abandoned().
  virtual void abandon() {}
  /// No launch is left of those that were dropped, and no message to an SM is in flight.
  [[nodiscard]] virtual bool abandoned() const { return idle(); }
  /// When abandoned, and all SMs are idle and restarted: as constructed, but for the records.
  virtual void restart() {}
  /// True if it acts only in cycles that it has requested from its clock domain. A GPU whose clocks have no work is
  /// then known to be stuck.
  [[nodiscard]] virtual bool acts_on_request_only() const { return false; }
  /// True if something already requested begins by itself in a future cycle.
  [[nodiscard]] virtual bool waits_for_time(cycle_t now) const { return static_cast<void>(now), false; }
  /// Lookahead towards an SM: the last cycle by which nothing that the CWD sends after its cycle `now` can reach the
  /// SM, except in answer to what the SM sends from now on. `requests`: preempt() may be called. A CWD that cannot tell
  /// returns `now`.
  [[nodiscard]] virtual cycle_t nothing_arrives_until(unsigned sm, cycle_t now, bool requests) const {
    (void)sm, (void)requests;
    return now;
  }

  /// All preemptions of SMs that held blocks, in the order of their requests.
  [[nodiscard]] const std::deque<std::unique_ptr<context_in_flight>>& context_switches() const { return contexts_; }
  [[nodiscard]] const preempt_counts& preempt_requests() const { return preempt_counts_; }
  [[nodiscard]] const std::deque<grid_record>& grids() const { return grids_; }
  /// Grids in the order in which their last block was dispatched.
  [[nodiscard]] const std::vector<std::uint32_t>& dispatch_order() const { return dispatch_order_; }
  /// Grids in the order of their ends.
  [[nodiscard]] const std::vector<std::uint32_t>& end_order() const { return end_order_; }
  /// By the clients' numbers. Launches of number 0, of no client, are not counted.
  [[nodiscard]] const std::map<std::uint32_t, client_use>& clients() const { return clients_; }
  [[nodiscard]] std::uint64_t blocks_submitted() const { return blocks_submitted_; }
  [[nodiscard]] std::uint64_t blocks_completed() const { return blocks_completed_; }
  [[nodiscard]] bool idle() const { return unfinished_ == 0; }

 protected:
  grid_distributor(sc_core::sc_module_name name, const gpu_config& config);
  /// The preemptions, and their names. Those of blocks are known.
  void exchange_contexts(state_image& image);
  static void name_context(context_in_flight& c, state_image& image);
  void exchange_executed(context_in_flight& c, state_image& image) const;
  /// The grid has ended. Its observer is not notified.
  void end(grid_record& grid, cycle_t cycle);
  /// A block of the launch has come to the SM, or left it for good.
  void count_client(const simt::launch_context& launch, unsigned sm, bool comes);

  std::deque<grid_record> grids_;  // by launch number
  std::vector<std::uint32_t> dispatch_order_;
  std::vector<std::uint32_t> end_order_;
  std::deque<std::unique_ptr<context_in_flight>> contexts_;
  preempt_counts preempt_counts_;
  std::map<std::uint32_t, client_use> clients_;
  unsigned unfinished_ = 0;  // grids
  std::uint64_t blocks_submitted_ = 0;
  std::uint64_t blocks_placed_ = 0;  // sent to an SM
  std::uint64_t blocks_completed_ = 0;
};

}  // namespace heddle

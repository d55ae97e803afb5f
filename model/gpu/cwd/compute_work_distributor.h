// SPDX-License-Identifier: MIT
// Models: the Compute Work Distributor: places the blocks of several streams' grids on SMs by resources and priority.
// Sockets: cta_socket[i] (initiator), one per SM.
// One cycle: takes arriving completions, then dispatches one block, or one cluster of blocks, of the most
//   urgent grid that fits an SM, or the SMs of a GPC. Each partition of a divided GPU has a front end of its own.
// Parameters: [cwd]. Source: docs/develop/architecture.md, "The path of a block".
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/config/sm_places.h"
#include "heddle/gpu/cwd/context_switcher.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/cwd/policies/placement_policy.h"
#include "heddle/gpu/cwd/room_maker.h"
#include "heddle/gpu/cwd/sm_account.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/port/phase_initiator.h"
#include "heddle/tlm/protocol/cta_protocol.h"
#include "heddle/tlm/protocol/object_pool.h"

namespace heddle {

class compute_work_distributor : public grid_distributor,
                                 public clocked,
                                 public phase_initiator<cta_protocol_types>,
                                 private switch_host,
                                 private sm_shares {
 public:
  compute_work_distributor(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config,
                           grid_observer& observer);
  ~compute_work_distributor() override;

  void submit(std::shared_ptr<const resident_launch> launch) override;
  /// SMs without blocks are not preempted. A switch in progress on an SM ends before the next one begins.
  void preempt(const preempt_request& request) override;
  [[nodiscard]] bool has_image() const override;
  void exchange(state_image& image) override;
  void check_invariants() const override;
  [[nodiscard]] std::string waiting_blocks_text() const override;
  void halt() override { halted_ = true; }
  void sample_blocks(double error, sampled_cache& l2) override {
    sample_error_ = error;
    sampled_l2_ = &l2;
  }
  [[nodiscard]] bool terminates() const override { return true; }
  void terminate(const std::vector<std::uint32_t>& launches) override;
  [[nodiscard]] bool resettable() const override { return true; }
  void abandon() override;
  [[nodiscard]] bool abandoned() const override { return !abandoning_ && idle(); }
  void restart() override;
  [[nodiscard]] bool acts_on_request_only() const override { return true; }
  [[nodiscard]] bool waits_for_time(cycle_t now) const override;
  [[nodiscard]] cycle_t nothing_arrives_until(unsigned sm, cycle_t now, bool requests) const override;

  void on_cycle(cycle_t cycle) override;
  tlm::tlm_sync_enum nb_transport_bw(cta_transaction& t, cta_phase& phase, sc_core::sc_time& delay) override;
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  /// Dispatches the blocks of a partition's grids, or of a whole GPU's, to its SMs. None waits for another.
  struct front_end {
    std::unique_ptr<placement_policy> placement;
    std::map<std::uint64_t, std::deque<std::uint32_t>> streams;  // unfinished launches by the stream's key
    std::vector<std::uint32_t> candidates;
    std::uint64_t candidate_lists = 0;  // how often candidates was collected
    cycle_t next_dispatch = 0;
    double dispatch_free = 0;              // next_dispatch before rounding up
    double ends = 0;                       // of blocks: those that blocks which follow them still wait for
    double ends_free = 0;                  // from when on the next block's end is processed
    std::vector<std::uint32_t> late_ends;  // grids that are done but for the ends of their last blocks
    bool blocked = false;                  // nothing fits until a completion, a new grid or one that becomes ready
    void exchange(state_image& image);
  };
  struct arrival {
    cycle_t cycle;
    cta_transaction* transaction;
    cta_phase phase;
    void exchange(state_image& image) { image(cycle, transaction, phase); }
  };

  void exchange_blocks(state_image& image);
  void read_recordings(grid_record& g, const std::map<std::uint64_t, block_in_flight*>& blocks);
  [[nodiscard]] front_end& front_of(const grid_record& g) { return fronts_[g.launch->partition]; }
  [[nodiscard]] front_end& front_of(unsigned sm) { return fronts_[partition_of_sm_[sm]]; }
  [[nodiscard]] std::deque<std::uint32_t>& stream_of(const grid_record& g) {
    return front_of(g).streams[g.launch->stream_key()];
  }
  [[nodiscard]] bool has_several_streams() const;
  void run(front_end& f, cycle_t cycle);
  void take_arrivals(cycle_t cycle);
  void complete(block_in_flight& b, cycle_t cycle);
  void settled(block_in_flight& b, cycle_t cycle);
  void finish_if_done(grid_record& g, cycle_t cycle);
  [[nodiscard]] bool may_use(unsigned sm, const grid_record& g) const override;
  [[nodiscard]] bool accepts(unsigned sm, const grid_record& g) const;
  /// The number of blocks dispatched: 0, 1 or those of a cluster.
  std::uint64_t dispatch_next(const front_end& f, cycle_t cycle);
  void take_time(front_end& f, std::uint64_t blocks, cycle_t cycle) const;
  void take_late_ends(front_end& f, cycle_t cycle);
  [[nodiscard]] unsigned blocks_before(unsigned sm) const;
  [[nodiscard]] bool takes_all(unsigned sm) const;
  /// Number of the present set of grids with blocks to dispatch: another set, another number.
  [[nodiscard]] std::uint64_t waiting_set(const front_end& f) const {
    return f.candidate_lists + dispatch_order_.size();
  }
  void dispatch(grid_record& g, std::uint64_t block, unsigned sm, cycle_t cycle,
                std::shared_ptr<const std::vector<std::uint16_t>> cluster_sms = nullptr);
  // Launches that begin before the end of the launch before (compute_work_distributor_early.cpp)
  void released(block_in_flight& b);
  void admit_early(front_end& f, std::deque<std::uint32_t>& stream);
  void meet_prerequisite(grid_record& g, cycle_t cycle);
  // Thread block clusters (compute_work_distributor_clusters.cpp)
  [[nodiscard]] static std::uint64_t block_of_cluster(const grid_record& g, std::uint64_t cluster, std::uint64_t rank);
  [[nodiscard]] std::uint64_t room_on(unsigned sm, const grid_record& g, std::uint64_t most) const;
  [[nodiscard]] bool has_blocks(unsigned sm, const grid_record& g) const;
  [[nodiscard]] std::uint64_t new_sms_left(const grid_record& g) const;
  [[nodiscard]] std::vector<std::uint64_t> room_of_gpcs(const grid_record& g) const;
  [[nodiscard]] bool leaves_room(unsigned sm, const grid_record& g, std::uint64_t blocks) const;
  bool dispatch_cluster(grid_record& g, std::vector<std::uint64_t>& resident, cycle_t cycle);
  void all_dispatched(const grid_record& g, cycle_t cycle);
  /// Collects the grids that may dispatch: the first unfinished one of each stream, most urgent first.
  void refresh_candidates(unsigned partition);
  void schedule(cycle_t cycle);
  [[nodiscard]] cwd_records records() {
    return {accounts_, blocks_, grids_, contexts_, last_requests_, preempt_counts_};
  }
  void send(context_in_flight& c, cta_phase phase, cycle_t cycle) override;
  void room_changed(unsigned sm) override { front_of(sm).blocked = false; }

  // Launches that the host ends (compute_work_distributor_terminate.cpp)
  void end_terminated(cycle_t cycle);
  void block_dropped(const block_in_flight& b) override;
  // Blocks that are left out (compute_work_distributor_sample.cpp)
  [[nodiscard]] std::shared_ptr<block_sampler> sampler_of(const resident_launch& launch) const;
  void sample(grid_record& g, const block_in_flight& b, cycle_t cycle);
  bool end_left_out(grid_record& g, cycle_t cycle);
  // Reset (compute_work_distributor_reset.cpp)
  void drive_abandonment(cycle_t cycle);
  void end_grids(cycle_t cycle);
  const gpu_config config_;
  grid_observer& observer_;
  clock_port clock_;
  std::vector<sm_account> accounts_;
  const std::vector<sm_place> places_;
  const std::vector<unsigned> partition_of_sm_;  // from 1 on; 0: the SM is in none
  std::vector<front_end> fronts_;                // the first one of what is in no partition
  std::vector<arrival> arrivals_;
  block_pool blocks_;
  std::vector<std::unique_ptr<context_in_flight>> last_requests_;  // to the SMs, that no block returns from
  context_switcher switcher_;
  room_maker room_maker_;
  bool halted_ = false;
  bool abandoning_ = false;                // all launches, for a reset
  std::vector<std::uint32_t> terminated_;  // launches that have not ended yet
  double sample_error_ = 0;                // 0: all blocks are simulated
  sampled_cache* sampled_l2_ = nullptr;
  bool has_left_out_ = false;  // blocks of a launch that has ended
  const bool may_be_early_;    // the chip has launches that begin before the end of the launch before
  unsigned early_grids_ = 0;
  unsigned with_runtime_ = 0;  // unfinished grids whose programs call the device runtime, whose state all SMs share
};

}  // namespace heddle

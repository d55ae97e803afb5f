// SPDX-License-Identifier: MIT
// Models: a custom CWD for a whole GPU: one grid at a time, blocks from the last to the first, each to the SM with the
// most free resources. Sockets: cta_socket[i] (initiator), one per SM. One cycle: takes the completions of blocks,
// then dispatches one block. Parameters: cwd.dispatch_latency_cycles.
#pragma once

#include <heddle/gpu/cwd/grid_distributor.h>
#include <heddle/sm/resource_manager.h>
#include <heddle/tlm/port/phase_initiator.h>

#include <deque>
#include <memory>
#include <vector>

namespace cosim {

class backwards_cwd : public heddle::grid_distributor,
                      public heddle::clocked,
                      public heddle::phase_initiator<heddle::cta_protocol_types> {
 public:
  backwards_cwd(const char* name, heddle::clock_domain& clock, const heddle::gpu_config& config,
                heddle::grid_observer& observer)
      : grid_distributor(name, config),
        latency_(config.cwd.dispatch_latency_cycles),
        observer_(observer),
        clock_(clock, *this) {
    for (auto& socket : cta_socket) {
      socket.bind(*this);
      rooms_.emplace_back(config);
    }
  }

  void submit(std::shared_ptr<const heddle::resident_launch> launch) override {
    grids_.emplace_back();
    heddle::grid_record& grid = grids_.back();
    grid.launch = std::move(launch);
    grid.footprint = rooms_.front().footprint(heddle::demand_of(*grid.launch));
    grid.doorbell_cycle = grid.ready_cycle = clock_.cycle();
    blocks_submitted_ += grid.blocks();
    ++unfinished_;
    clock_.wake_at(clock_.cycle() + 1);
  }
  void halt() override { halted_ = true; }
  [[nodiscard]] bool acts_on_request_only() const override { return true; }

  void on_cycle(heddle::cycle_t cycle) override {
    while (!messages_.empty() && messages_.front().taken_at <= cycle && !halted_) take(cycle);
    if (halted_ || unfinished_ == 0) return;
    heddle::grid_record& grid = grids_[grids_.size() - unfinished_];
    if (grid.dispatched != grid.blocks() && dispatch(grid, cycle)) clock_.wake_at(cycle + 1);
  }

 private:
  struct placed_block : heddle::cta_transaction {
    heddle::block_allocation allocation;
  };
  struct message {
    placed_block* block;
    heddle::cta_phase phase;
    heddle::cycle_t taken_at;  // cycle at which this CWD takes it
  };

  bool dispatch(heddle::grid_record& grid, heddle::cycle_t cycle) {
    unsigned best = 0;
    for (unsigned i = 1; i < rooms_.size(); ++i)
      if (rooms_[i].warps() < rooms_[best].warps()) best = i;
    if (!rooms_[best].fits(grid.footprint)) return false;  // dispatching resumes when a block has completed
    placed_block& b = blocks_.emplace_back();
    b.launch = grid.launch.get();
    b.block = grid.blocks() - ++grid.dispatched;
    b.sm = best;
    b.allocation = rooms_[best].take(grid.footprint);
    if (grid.dispatched == 1) grid.start_cycle = cycle + latency_;
    if (grid.dispatched == grid.blocks()) dispatch_order_.push_back(grid.launch->launch_id);
    heddle::cta_phase phase = heddle::cta_phase::dispatch;
    sc_core::sc_time delay = clock_.domain().delay_until(cycle + latency_ - 1);
    cta_socket[best]->nb_transport_fw(b, phase, delay);
    return true;
  }

  // Takes a message: a block is complete, or its stores are acknowledged.
  void take(heddle::cycle_t cycle) {
    const message m = messages_.front();
    messages_.pop_front();
    heddle::grid_record& grid = grids_[m.block->launch->launch_id];
    if (m.phase == heddle::cta_phase::settled) {
      --grid.unsettled;
    } else {
      rooms_[m.block->sm].give_back(m.block->allocation);
      ++blocks_completed_;
      ++grid.completed;
      if (m.block->stores_left) ++grid.unsettled;
    }
    if (grid.completed != grid.blocks() || grid.unsettled != 0) return;
    end(grid, cycle);
    observer_.grid_finished(grid, cycle);
  }

  tlm::tlm_sync_enum nb_transport_bw(heddle::cta_transaction& t, heddle::cta_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == heddle::cta_phase::fault) {
      observer_.program_fault(t.fault);
      return tlm::TLM_ACCEPTED;
    }
    auto& b = static_cast<placed_block&>(t);
    // All have the same latency, so they arrive in order.
    messages_.push_back({&b, phase, clock_.domain().arrival(delay)});
    clock_.wake_at(messages_.back().taken_at);
    return tlm::TLM_ACCEPTED;
  }

  unsigned latency_;
  heddle::grid_observer& observer_;
  heddle::clock_port clock_;
  std::vector<heddle::sm_resources> rooms_;  // free resources of each SM
  std::deque<placed_block> blocks_;
  std::deque<message> messages_;  // in flight
  bool halted_ = false;
};

}  // namespace cosim

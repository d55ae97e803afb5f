// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/gpu/cwd/sm_account.h"
#include "heddle/gpu/cwd/switch_cost.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// What the CWD does for its context_switcher.
class switch_host {
 public:
  /// Sends the context to its SM.
  virtual void send(context_in_flight& c, cta_phase phase, cycle_t cycle) = 0;
  /// Blocks have left the SM, or are back: a block that fitted nowhere may fit there.
  virtual void room_changed(unsigned sm) = 0;
  /// The block, of a launch that the host ends, has left its SM for good.
  virtual void block_dropped(const block_in_flight& b) = 0;

 protected:
  ~switch_host() = default;
};

/// The CWD's side of context switches: which SM gives up its blocks, in which mode, and when they return.
class context_switcher {
 public:
  /// All outlive it.
  context_switcher(const gpu_config& config, clock_port& clock, const cwd_records& records, grid_observer& observer,
                   switch_host& host);

  /// A preemption of the SM. Its blocks return `resume_after` cycles after they have left, or when all blocks of the
  /// launch `waits_for` have been dispatched.
  void ask(unsigned sm, preemption_mode mode, cycle_t now, cycle_t resume_after,
           std::uint32_t waits_for = context_in_flight::no_launch);
  /// Some switch has not ended.
  [[nodiscard]] bool is_busy() const { return switches_ != 0; }
  /// Begins what can begin.
  void drive(cycle_t cycle);
  /// Lets groups of SMs proceed that have waited for each other.
  void drive_groups(cycle_t cycle);
  /// When a switch begins by itself after this cycle; `never` if none does.
  [[nodiscard]] cycle_t next(cycle_t cycle) const;
  /// When a group proceeds, not before the next cycle; `never` if none does.
  [[nodiscard]] cycle_t next_group(cycle_t cycle) const;
  /// Blocks are to return in a later cycle than `now`.
  [[nodiscard]] bool waits_for_time(cycle_t now) const;

  /// An SM's answers.
  void saved(context_in_flight& c, cycle_t cycle);
  void resumed(context_in_flight& c, cycle_t cycle);
  void ready(context_in_flight& c, cycle_t cycle);
  /// A block is complete, of which the SM's account knows.
  void block_completed(const block_in_flight& b, cycle_t cycle);
  /// All blocks of the launch have been dispatched.
  void all_dispatched(std::uint32_t launch, cycle_t cycle);

  /// The blocks, which have left the SM, are due to return.
  [[nodiscard]] bool wanted_back(const sm_account& a, const context_in_flight& c, cycle_t cycle) const;
  /// The SM has blocks and takes part in no switch.
  [[nodiscard]] static bool may_be_asked(const sm_account& a);
  [[nodiscard]] cycle_t slice_end(const sm_account& a) const;

  /// Takes the blocks of launches that the host ends off the SMs. Those that have been switched out, or are on the way,
  /// are dropped once they are resident again.
  void drop_terminated(cycle_t cycle);
  /// For a reset: drops all preemptions that have not begun, and blocks that have left their SMs.
  void abandon();
  /// Of what is left, takes the blocks off SMs that take part in no switch. False if nothing is left.
  bool drive_abandonment(cycle_t cycle);
  void end_abandonment() { groups_.clear(); }
  void exchange(state_image& image) { image(switches_, groups_, groups_begun_); }

 private:
  /// Switches of several SMs whose blocks leave and return together.
  struct switch_group {
    std::vector<context_in_flight*> members;  // those whose blocks have not ended, and are not back
    std::uint32_t ready = 0;                  // members whose SM waits for the others
    cycle_t proceeds = never;
    void exchange(state_image& image) { image(members, ready, proceeds); }
  };

  /// False: it has to wait for other SMs.
  bool begin_switch(unsigned sm, cycle_t cycle);
  void drop_request(context_in_flight& c, cycle_t cycle);
  void set_mode(context_in_flight& c, cycle_t cycle);
  void divide(context_in_flight& c, cycle_t cycle);
  void send(context_in_flight& c, cta_phase phase, cycle_t cycle);
  void note_drained(sm_account& a, const block_in_flight& b, cycle_t cycle);
  void end_draining(sm_account& a, cycle_t cycle);
  void set_resume_cycle(sm_account& a, context_in_flight& c, cycle_t saved, cycle_t now);
  bool restore_next(unsigned sm, cycle_t cycle);
  void restore_context(context_in_flight& c, cycle_t cycle);
  [[nodiscard]] bool fits(const context_in_flight& c) const;
  void dropped(context_in_flight& c, cycle_t cycle);
  void drop_swapped_out(sm_account& a);
  context_in_flight& last_request(unsigned sm, cycle_t cycle);
  [[nodiscard]] bool holds_early(unsigned sm) const;
  // Clusters (context_switcher_groups.cpp)
  [[nodiscard]] bool holds_cluster(unsigned sm) const;
  [[nodiscard]] static std::uint64_t cluster_of(const block_in_flight& b);
  [[nodiscard]] std::vector<block_in_flight*> cluster_blocks_of(const block_in_flight& b) const;
  [[nodiscard]] bool leaves_with_clusters(unsigned sm) const;
  bool begin_group(unsigned sm, cycle_t cycle);
  void join_group(std::uint32_t number, context_in_flight& c);
  void leave_group(context_in_flight& c);
  [[nodiscard]] bool is_due(const switch_group& g, cycle_t cycle) const;
  [[nodiscard]] bool fits(const switch_group& g) const;

  const gpu_config& config_;
  clock_port& clock_;
  std::vector<sm_account>& accounts_;
  block_pool& blocks_;
  const std::deque<grid_record>& grids_;
  std::deque<std::unique_ptr<context_in_flight>>& contexts_;
  std::vector<std::unique_ptr<context_in_flight>>& last_requests_;
  preempt_counts& counts_;
  switch_host& host_;
  const switch_cost cost_;
  unsigned switches_ = 0;                         // that have not ended
  std::map<std::uint32_t, switch_group> groups_;  // by number, from 1 on
  std::uint32_t groups_begun_ = 0;
};

}  // namespace heddle

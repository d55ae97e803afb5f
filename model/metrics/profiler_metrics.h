// SPDX-License-Identifier: MIT
// Part of run_metrics.h, which says what visit is.
#pragma once

#include <cstdint>

namespace heddle {

// clang-format off
/// The profiler's metrics, under its names: X(type, key, formula of a launch's sums, which are launch_sums of
/// launch_sums.h). Ratios are of sums over SMs, except sm_efficiency (mean over all SMs).
#define HEDDLE_PROFILER_METRICS(X) \
  X(double,        achieved_occupancy, ratio(s.issue.active_warp_cycles, s.active_cycles * s.max_warps)) \
  X(double,        sm_efficiency, ratio(s.active_cycles, s.cycles * s.sms)) \
  X(double,        ipc, ratio(s.issue.inst_executed, s.active_cycles)) \
  X(double,        issued_ipc, ratio(s.inst_issued(), s.active_cycles)) \
  X(std::uint64_t, inst_executed, s.issue.inst_executed) \
  X(std::uint64_t, inst_issued, s.inst_issued())  /* inst_issued1 + 2 x inst_issued2 */ \
  X(std::uint64_t, inst_issued1, s.issue.inst_issued1)  /* cycles with one issue or replay */ \
  X(std::uint64_t, inst_issued2, s.issue.inst_issued2)  /* cycles with two */ \
  X(std::uint64_t, issue_slots, s.issue_slots()) \
  X(double,        issue_slot_utilization, ratio(s.issue_slots(), s.cycles * s.sms * s.sub_partitions)) \
  X(double,        inst_per_warp, ratio(s.issue.inst_executed, s.issue.warps)) \
  X(double,        branch_efficiency, ratio(s.issue.branches - s.issue.divergent_branches, s.issue.branches)) \
  X(double,        warp_execution_efficiency, ratio(s.issue.thread_inst, s.lanes())) \
  X(double,        warp_nonpred_execution_efficiency, ratio(s.issue.nonpred_thread_inst, s.lanes())) \
  X(double,        inst_replay_overhead, ratio(s.replays(), s.issue.inst_executed)) \
  X(double,        shared_replay_overhead, ratio(s.issue.shared_replays, s.issue.inst_executed)) \
  X(double,        global_replay_overhead, ratio(s.issue.global_replays, s.issue.inst_executed)) \
  X(double,        gld_efficiency, ratio(s.global_load.requested_bytes, s.moved_bytes(s.global_load))) \
  X(double,        gst_efficiency, ratio(s.global_store.requested_bytes, s.moved_bytes(s.global_store))) \
  X(double,        shared_efficiency, ratio(s.shared.requested_bytes, s.shared.moved_bytes)) \
  X(double,        eligible_warps_per_cycle, ratio(s.eligible_warps(), s.active_cycles)) \
  X(std::uint64_t, gld_transactions, s.global_load.transactions) \
  X(std::uint64_t, gst_transactions, s.global_store.transactions) \
  X(std::uint64_t, shared_load_transactions, s.shared.load_transactions) \
  X(std::uint64_t, shared_store_transactions, s.shared.store_transactions) \
  X(std::uint64_t, l2_read_transactions, s.memory.l2.read_bytes / sector_bytes) \
  X(std::uint64_t, l2_write_transactions, s.memory.l2.write_bytes / sector_bytes) \
  X(std::uint64_t, dram_read_transactions, s.memory.dram.read_bytes / sector_bytes) \
  X(std::uint64_t, dram_write_transactions, s.memory.dram.write_bytes / sector_bytes) \
  /* shares of all stalled warp-cycles; these include not_selected, but not selected */ \
  X(double,        stall_not_selected, s.stalled(warp_cycle::not_selected)) \
  X(double,        stall_inst_fetch, s.stalled(warp_cycle::inst_fetch)) \
  X(double,        stall_exec_dependency, s.stalled(warp_cycle::exec_dependency)) \
  X(double,        stall_memory_dependency, s.stalled(warp_cycle::memory_dependency)) \
  X(double,        stall_memory_throttle, s.stalled(warp_cycle::memory_throttle)) \
  X(double,        stall_pipe_busy, s.stalled(warp_cycle::pipe_busy)) \
  X(double,        stall_sync, s.stalled(warp_cycle::sync)) \
  X(double,        stall_constant_memory_dependency, s.stalled(warp_cycle::constant_memory_dependency)) \
  X(double,        stall_texture, s.stalled(warp_cycle::texture)) \
  X(double,        stall_sleeping, s.stalled(warp_cycle::sleeping)) \
  X(double,        stall_other, s.stalled(warp_cycle::other))
// clang-format on

struct launch_sums;

struct profiler_metrics {
#define HEDDLE_X(type, key, formula) type key = 0;
  HEDDLE_PROFILER_METRICS(HEDDLE_X)
#undef HEDDLE_X

  profiler_metrics() = default;
  explicit profiler_metrics(const launch_sums& s);

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
#define HEDDLE_X(type, key, formula) v(#key, self.key);
    HEDDLE_PROFILER_METRICS(HEDDLE_X)
#undef HEDDLE_X
  }
  template <class V>
  void visit(V&& v) {
    visit_members(*this, v);
  }
  template <class V>
  void visit(V&& v) const {
    visit_members(*this, v);
  }
};

}  // namespace heddle

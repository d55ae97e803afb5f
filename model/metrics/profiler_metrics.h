// SPDX-License-Identifier: MIT
// Part of run_metrics.h, which says what visit is.
#pragma once

#include <cstdint>

namespace heddle {

// clang-format off
/// The profiler's metrics, under its names: X(type, key, formula, unit, sentence). The formula is of a launch's sums,
/// which are launch_sums of launch_sums.h. Ratios are of sums over SMs, except sm_efficiency (mean over all SMs). The
/// tables of docs/use/metrics.md have the units and sentences.
#define HEDDLE_PROFILER_METRICS(X) \
  X(double,        achieved_occupancy, ratio(s.issue.active_warp_cycles, s.active_cycles * s.max_warps), "ratio", \
    "active warp-cycles / active_cycles / sm.max_warps") \
  X(double,        sm_efficiency, ratio(s.active_cycles, s.cycles * s.sms), "ratio", \
    "active_cycles / (cycles x SMs)") \
  X(double,        ipc, ratio(s.issue.inst_executed, s.active_cycles), "inst/cycle", \
    "inst_executed / active_cycles") \
  X(double,        issued_ipc, ratio(s.inst_issued(), s.active_cycles), "inst/cycle", \
    "inst_issued / active_cycles") \
  X(std::uint64_t, inst_executed, s.issue.inst_executed, "inst", \
    "warp instructions, predicated-off ones included, replays not") \
  X(std::uint64_t, inst_issued, s.inst_issued(), "inst", \
    "inst_issued1 + 2 x inst_issued2") \
  X(std::uint64_t, inst_issued1, s.issue.inst_issued1, "cycles", \
    "scheduler cycles with one instruction or replay issued") \
  X(std::uint64_t, inst_issued2, s.issue.inst_issued2, "cycles", \
    "scheduler cycles with two") \
  X(std::uint64_t, issue_slots, s.issue_slots(), "cycles", \
    "inst_issued1 + inst_issued2") \
  X(double,        issue_slot_utilization, ratio(s.issue_slots(), s.cycles * s.sms * s.sub_partitions), "ratio", \
    "issue_slots / (cycles x SMs x schedulers)") \
  X(double,        inst_per_warp, ratio(s.issue.inst_executed, s.issue.warps), "inst", \
    "inst_executed / warps") \
  X(double,        branch_efficiency, ratio(s.issue.branches - s.issue.divergent_branches, s.issue.branches), "ratio", \
    "(branches - divergent ones) / branches") \
  X(double,        warp_execution_efficiency, ratio(s.issue.thread_inst, s.lanes()), "ratio", \
    "active threads / (32 x inst_executed)") \
  X(double,        warp_nonpred_execution_efficiency, ratio(s.issue.nonpred_thread_inst, s.lanes()), "ratio", \
    "the same without predicated-off threads") \
  X(double,        inst_replay_overhead, ratio(s.replays(), s.issue.inst_executed), "ratio", \
    "(inst_issued - inst_executed) / inst_executed") \
  X(double,        shared_replay_overhead, ratio(s.issue.shared_replays, s.issue.inst_executed), "ratio", \
    "replays for conflicts in a bank of shared memory / inst_executed") \
  X(double,        global_replay_overhead, ratio(s.issue.global_replays, s.issue.inst_executed), "ratio", \
    "replays for further lines of global and local memory / inst_executed") \
  X(double,        gld_efficiency, ratio(s.global_load.requested_bytes, s.moved_bytes(s.global_load)), "ratio", \
    "of global loads: bytes requested by threads (capped per instruction at the bytes moved, since " \
    "lanes may share bytes) / bytes of the 32-byte sectors moved") \
  X(double,        gst_efficiency, ratio(s.global_store.requested_bytes, s.moved_bytes(s.global_store)), "ratio", \
    "the same of global stores") \
  X(double,        shared_efficiency, ratio(s.shared.requested_bytes, s.shared.moved_bytes), "ratio", \
    "the same of shared memory: bytes requested / passes x width of all banks") \
  X(double,        eligible_warps_per_cycle, ratio(s.eligible_warps(), s.active_cycles), "warps", \
    "(selected + not_selected warp-cycles) / active_cycles") \
  X(std::uint64_t, gld_transactions, s.global_load.transactions, "sectors", \
    "32-byte sectors of global loads") \
  X(std::uint64_t, gst_transactions, s.global_store.transactions, "sectors", \
    "32-byte sectors of global stores") \
  X(std::uint64_t, shared_load_transactions, s.shared.load_transactions, "passes", \
    "passes of shared loads") \
  X(std::uint64_t, shared_store_transactions, s.shared.store_transactions, "passes", \
    "passes of shared stores") \
  X(std::uint64_t, l2_read_transactions, s.memory.l2.read_bytes / sector_bytes, "sectors", \
    "sectors that the L2 returned") \
  X(std::uint64_t, l2_write_transactions, s.memory.l2.write_bytes / sector_bytes, "sectors", \
    "sectors written to the L2") \
  X(std::uint64_t, dram_read_transactions, s.memory.dram.read_bytes / sector_bytes, "sectors", \
    "32 bytes each, read from memory") \
  X(std::uint64_t, dram_write_transactions, s.memory.dram.write_bytes / sector_bytes, "sectors", \
    "32 bytes each, written to memory") \
  X(double,        stall_not_selected, s.stalled(warp_cycle::not_selected), "ratio", \
    "warp-cycles in not_selected / warp-cycles in all states except selected") \
  X(double,        stall_inst_fetch, s.stalled(warp_cycle::inst_fetch), "ratio", \
    "warp-cycles in inst_fetch / warp-cycles in all states except selected") \
  X(double,        stall_exec_dependency, s.stalled(warp_cycle::exec_dependency), "ratio", \
    "warp-cycles in exec_dependency / warp-cycles in all states except selected") \
  X(double,        stall_memory_dependency, s.stalled(warp_cycle::memory_dependency), "ratio", \
    "warp-cycles in memory_dependency / warp-cycles in all states except selected") \
  X(double,        stall_memory_throttle, s.stalled(warp_cycle::memory_throttle), "ratio", \
    "warp-cycles in memory_throttle / warp-cycles in all states except selected") \
  X(double,        stall_pipe_busy, s.stalled(warp_cycle::pipe_busy), "ratio", \
    "warp-cycles in pipe_busy / warp-cycles in all states except selected") \
  X(double,        stall_sync, s.stalled(warp_cycle::sync), "ratio", \
    "warp-cycles in sync / warp-cycles in all states except selected") \
  X(double,        stall_constant_memory_dependency, s.stalled(warp_cycle::constant_memory_dependency), "ratio", \
    "warp-cycles in constant_memory_dependency / warp-cycles in all states except selected") \
  X(double,        stall_texture, s.stalled(warp_cycle::texture), "ratio", \
    "warp-cycles in texture / warp-cycles in all states except selected") \
  X(double,        stall_sleeping, s.stalled(warp_cycle::sleeping), "ratio", \
    "warp-cycles in sleeping / warp-cycles in all states except selected") \
  X(double,        stall_other, s.stalled(warp_cycle::other), "ratio", \
    "warp-cycles in other / warp-cycles in all states except selected")
// clang-format on

struct launch_sums;

struct profiler_metrics {
#define HEDDLE_X(type, key, ...) type key = 0;
  HEDDLE_PROFILER_METRICS(HEDDLE_X)
#undef HEDDLE_X

  profiler_metrics() = default;
  explicit profiler_metrics(const launch_sums& s);

  template <class Self, class V>
  static void visit_members(Self& self, V&& v) {
#define HEDDLE_X(type, key, ...) v(#key, self.key);
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

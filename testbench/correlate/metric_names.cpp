// SPDX-License-Identifier: MIT
#include "testbench/correlate/metric_names.h"

#include <map>

#include "heddle/sub_partition/account/warp_state.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using launch = simulated_launch;
using stage = metric_stage;
using unit = metric_unit;

double ratio(double a, double b) { return b > 0 ? a / b : 0; }
double cycles(const launch& l) { return l.number("cycles"); }
double seconds(const launch& l) { return ratio(cycles(l), l.hertz()); }
double sms(const launch& l) { return l.parameter("gpu.sm_count"); }
/// A profiler counts look-ups of tags: a sector that is being fetched hits, and what is written to the L2 needs no
/// fetch.
double l1_hits(const launch& l) {
  return ratio(l.number("memory.l1.hits") + l.number("memory.l1.merges"), l.number("memory.l1.accesses"));
}
double l2_hits(const launch& l) {
  return 1 - ratio(l.number("memory.l2.misses") - l.number("memory.l2.write_misses"), l.number("memory.l2.accesses"));
}
double dram_bytes(const launch& l) { return l.number("memory.dram.read_bytes") + l.number("memory.dram.write_bytes"); }

/// Rows for values that are in the metrics file as they are.
#define HEDDLE_IN_FILE(path) [](const launch& l) { return l.number(path); }
/// Warps that wait for this reason in a cycle in which an instruction issues, as Nsight Compute divides them.
#define HEDDLE_WARPS_STALLED(state, nsight_state)                                                                \
  {                                                                                                              \
    "warps_stalled." #state, stage::stalls, unit::count,                                                         \
        [](const launch& l) { return ratio(l.number("warp_states." #state), l.number("metrics.issue_slots")); }, \
        {"smsp__average_warps_issue_stalled_" nsight_state "_per_issue_active.ratio"}, {}                        \
  }
#define HEDDLE_STALL(reason)                                                                                         \
  {                                                                                                                  \
    "stall_" #reason, stage::stalls, unit::share, HEDDLE_IN_FILE("metrics.stall_" #reason), {}, { "stall_" #reason } \
  }

}  // namespace

double simulated_launch::number(const std::string& path) const {
  const nlohmann::json* at = kernel;
  for (const std::string& key : split(path, '.')) {
    if (!at->is_object()) return 0;
    const auto found = at->find(key);
    if (found == at->end()) return 0;
    at = &*found;
  }
  return at->is_number() ? at->get<double>() : 0;
}

double simulated_launch::parameter(const std::string& name) const {
  const auto found = config->find(name);
  return found != config->end() && found->is_number() ? found->get<double>() : 0;
}

const std::vector<metric_name>& metric_names() {
  static const std::vector<metric_name> table = {
      {"registers_per_thread",
       stage::launch,
       unit::count,
       HEDDLE_IN_FILE("registers_per_thread"),
       {"launch__registers_per_thread", "Registers Per Thread"},
       {"Registers Per Thread"}},
      {"theoretical_occupancy",
       stage::launch,
       unit::share,
       HEDDLE_IN_FILE("theoretical_occupancy"),
       {"sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy"},
       {}},
      {"inst_executed",
       stage::instructions,
       unit::count,
       HEDDLE_IN_FILE("metrics.inst_executed"),
       {"smsp__inst_executed.sum", "sm__inst_executed.sum", "Executed Instructions"},
       {"inst_executed"}},
      {"inst_issued",
       stage::instructions,
       unit::count,
       HEDDLE_IN_FILE("metrics.inst_issued"),
       {"smsp__inst_issued.sum", "sm__inst_issued.sum", "Issued Instructions"},
       {"inst_issued"}},
      {"inst_per_warp",
       stage::instructions,
       unit::count,
       HEDDLE_IN_FILE("metrics.inst_per_warp"),
       {"smsp__average_inst_executed_per_warp.ratio"},
       {"inst_per_warp"}},
      {"branch_efficiency",
       stage::instructions,
       unit::share,
       HEDDLE_IN_FILE("metrics.branch_efficiency"),
       {"smsp__sass_average_branch_targets_threads_uniform.pct", "Branch Efficiency"},
       {"branch_efficiency"}},
      {"threads_per_inst",
       stage::instructions,
       unit::count,
       [](const launch& l) { return 32 * l.number("metrics.warp_execution_efficiency"); },
       {"smsp__thread_inst_executed_per_inst_executed.ratio", "Avg. Active Threads Per Warp"},
       {}},
      {"warp_execution_efficiency",
       stage::instructions,
       unit::share,
       HEDDLE_IN_FILE("metrics.warp_execution_efficiency"),
       {},
       {"warp_execution_efficiency"}},
      {"warp_nonpred_execution_efficiency",
       stage::instructions,
       unit::share,
       HEDDLE_IN_FILE("metrics.warp_nonpred_execution_efficiency"),
       {},
       {"warp_nonpred_execution_efficiency"}},
      {"gld_transactions",
       stage::l1,
       unit::count,
       HEDDLE_IN_FILE("metrics.gld_transactions"),
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
       {"gld_transactions"}},
      {"gst_transactions",
       stage::l1,
       unit::count,
       HEDDLE_IN_FILE("metrics.gst_transactions"),
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
       {"gst_transactions"}},
      {"gld_efficiency",
       stage::l1,
       unit::share,
       HEDDLE_IN_FILE("metrics.gld_efficiency"),
       {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"},
       {"gld_efficiency"}},
      {"gst_efficiency",
       stage::l1,
       unit::share,
       HEDDLE_IN_FILE("metrics.gst_efficiency"),
       {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"},
       {"gst_efficiency"}},
      {"l1_hit_rate",
       stage::l1,
       unit::share,
       l1_hits,
       {"l1tex__t_sector_hit_rate.pct", "L1/TEX Hit Rate"},
       {"unified_cache_hit_rate", "tex_cache_hit_rate"}},
      {"shared_load_transactions",
       stage::shared,
       unit::count,
       HEDDLE_IN_FILE("metrics.shared_load_transactions"),
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
       {"shared_load_transactions"}},
      {"shared_store_transactions",
       stage::shared,
       unit::count,
       HEDDLE_IN_FILE("metrics.shared_store_transactions"),
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
       {"shared_store_transactions"}},
      {"shared_bank_conflicts",
       stage::shared,
       unit::count,
       HEDDLE_IN_FILE("memory.shared.bank_conflicts"),
       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
       {}},
      {"l2_read_transactions",
       stage::l2,
       unit::count,
       HEDDLE_IN_FILE("metrics.l2_read_transactions"),
       {"lts__t_sectors_op_read.sum"},
       {"l2_read_transactions"}},
      {"l2_write_transactions",
       stage::l2,
       unit::count,
       HEDDLE_IN_FILE("metrics.l2_write_transactions"),
       {"lts__t_sectors_op_write.sum"},
       {"l2_write_transactions"}},
      {"l2_hit_rate",
       stage::l2,
       unit::share,
       l2_hits,
       {"lts__t_sector_hit_rate.pct", "L2 Hit Rate"},
       {"l2_tex_hit_rate"}},
      {"dram_read_bytes",
       stage::dram,
       unit::bytes,
       HEDDLE_IN_FILE("memory.dram.read_bytes"),
       {"dram__bytes_read.sum"},
       {"dram_read_bytes"}},
      {"dram_write_bytes",
       stage::dram,
       unit::bytes,
       HEDDLE_IN_FILE("memory.dram.write_bytes"),
       {"dram__bytes_write.sum"},
       {"dram_write_bytes"}},
      {"dram_bytes", stage::dram, unit::bytes, dram_bytes, {"dram__bytes.sum"}, {}},
      {"dram_read_transactions",
       stage::dram,
       unit::count,
       HEDDLE_IN_FILE("metrics.dram_read_transactions"),
       {"dram__sectors_read.sum"},
       {"dram_read_transactions"}},
      {"dram_write_transactions",
       stage::dram,
       unit::count,
       HEDDLE_IN_FILE("metrics.dram_write_transactions"),
       {"dram__sectors_write.sum"},
       {"dram_write_transactions"}},
      {"achieved_occupancy",
       stage::occupancy,
       unit::share,
       HEDDLE_IN_FILE("metrics.achieved_occupancy"),
       {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"},
       {"achieved_occupancy"}},
      {"sm_efficiency", stage::occupancy, unit::share, HEDDLE_IN_FILE("metrics.sm_efficiency"), {}, {"sm_efficiency"}},
      {"eligible_warps_per_cycle",
       stage::occupancy,
       unit::count,
       HEDDLE_IN_FILE("metrics.eligible_warps_per_cycle"),
       {},
       {"eligible_warps_per_cycle"}},
#define HEDDLE_X(state, ...) HEDDLE_WARPS_STALLED(state, #state),
      HEDDLE_WARP_STALLS(HEDDLE_X)
#undef HEDDLE_X
          HEDDLE_STALL(inst_fetch),
      HEDDLE_STALL(exec_dependency),
      HEDDLE_STALL(memory_dependency),
      HEDDLE_STALL(memory_throttle),
      HEDDLE_STALL(pipe_busy),
      HEDDLE_STALL(sync),
      HEDDLE_STALL(constant_memory_dependency),
      HEDDLE_STALL(texture),
      HEDDLE_STALL(sleeping),
      HEDDLE_STALL(not_selected),
      HEDDLE_STALL(other),
      {"ipc",
       stage::rate,
       unit::count,
       HEDDLE_IN_FILE("metrics.ipc"),
       {"sm__inst_executed.avg.per_cycle_active", "Executed Ipc Active"},
       {"ipc"}},
      {"ipc_elapsed",
       stage::rate,
       unit::count,
       [](const launch& l) { return ratio(l.number("metrics.inst_executed"), cycles(l) * sms(l)); },
       {"sm__inst_executed.avg.per_cycle_elapsed", "Executed Ipc Elapsed"},
       {}},
      {"issue_slot_utilization",
       stage::rate,
       unit::share,
       HEDDLE_IN_FILE("metrics.issue_slot_utilization"),
       {"smsp__issue_active.avg.pct_of_peak_sustained_elapsed"},
       {"issue_slot_utilization"}},
      {"sm_active_cycles",
       stage::rate,
       unit::count,
       [](const launch& l) { return l.number("metrics.sm_efficiency") * cycles(l); },
       {"sm__cycles_active.avg", "SM Active Cycles"},
       {}},
      {"bytes_per_cycle_per_sm",
       stage::rate,
       unit::count,
       [](const launch& l) { return ratio(l.bytes, cycles(l) * sms(l)); },
       {},
       {}},
      {"bytes_per_second",
       stage::rate,
       unit::bytes_per_second,
       [](const launch& l) { return ratio(l.bytes, seconds(l)); },
       {},
       {}},
      {"mean_watts", stage::rate, unit::watts, HEDDLE_IN_FILE("energy.mean_watts"), {}, {}},
      {"duration",
       stage::time,
       unit::seconds,
       seconds,
       {"gpu__time_duration.sum", "gpu__time_duration.avg", "Duration"},
       {"Duration"}},
      {"cycles",
       stage::time,
       unit::count,
       cycles,
       {"sm__cycles_elapsed.max", "sm__cycles_elapsed.avg", "gpc__cycles_elapsed.max", "gpc__cycles_elapsed.avg",
        "Elapsed Cycles"},
       {}},
  };
  return table;
}

#undef HEDDLE_IN_FILE
#undef HEDDLE_WARPS_STALLED
#undef HEDDLE_STALL

const metric_name* find_metric(const std::string& name) {
  static const std::map<std::string, const metric_name*> by_name = [] {
    std::map<std::string, const metric_name*> all;
    for (const metric_name& m : metric_names()) {
      all.emplace(m.name, &m);
      for (const std::string& n : m.nsight) all.emplace(n, &m);
      for (const std::string& n : m.nvprof) all.emplace(n, &m);
    }
    return all;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace heddle::testbench

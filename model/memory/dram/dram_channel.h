// SPDX-License-Identifier: MIT
// Models: one DRAM channel and its controller: a standard's constraints, open rows, scheduling, data bus, refresh.
// Sockets: request_sockets (targets).
// One cycle: at most one command issues: a column command, activate or precharge.
// Parameters: [dram], memory.channels. Source: docs/model/memory.md; Rixner et al., Memory Access Scheduling, ISCA
// 2000.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/memory/dram/memory_model.h"
#include "heddle/memory/dram/policies/dram_scheduler.h"
#include "heddle/memory/dram/policies/refresh_policy.h"
#include "heddle/memory/dram/policies/row_policy.h"
#include "heddle/memory/dram/timing/command_observer.h"
#include "heddle/memory/dram/timing/dram_queue.h"
#include "heddle/memory/dram/timing/dram_timing.h"

namespace heddle {

/// All cycles are of the command clock. Without load and with its bank closed, a read whose BEGIN_REQ comes in cycle t
/// is answered in cycle t + 1 + controller_latency + t_rcd + t_cl + data cycles (with its row open, without t_rcd).
/// A row's bytes are consecutive in the channel. Consecutive rows lie in consecutive banks, and thereby in different
/// bank groups, rotated by one per round so that strides of whole rounds do not stay in one bank.
/// Without bank groups, all bursts of a request follow one another: their column commands are decided with the first.
/// With them, bursts of requests to other groups may come between.
class dram_channel : public memory_model {
 public:
  dram_channel(sc_core::sc_module_name name, clock_domain& dram_clock, const gpu_config& config, unsigned index);

  void trace(sc_core::sc_trace_file* file) const override;
  void check_invariants() const override;
  void exchange(state_image& image) override;

  /// Replaces a policy by one that has no name in the configuration. Call before the first request.
  void use(std::unique_ptr<dram_scheduler> scheduler) { scheduler_ = std::move(scheduler); }
  void use(std::unique_ptr<row_policy> policy) { row_policy_ = std::move(policy); }
  void use(std::unique_ptr<refresh_policy> policy);
  /// The observer must live as long as the channel.
  void watch(command_observer& observer) { observer_ = &observer; }

  /// Bank and row of a byte of this channel.
  [[nodiscard]] unsigned bank_of(std::uint64_t local_address) const;
  [[nodiscard]] std::uint64_t row_of(std::uint64_t local_address) const;
  /// Refreshes begun. Refreshes missed while the channel slept are counted when it wakes.
  [[nodiscard]] std::uint64_t refreshes() const { return refreshes_; }

 private:
  static constexpr unsigned no_bank = ~0u;

  void enter(tlm::tlm_generic_payload& p, cycle_t arrival) override;
  cycle_t work(cycle_t now) override;
  [[nodiscard]] cycle_t unloaded_cycles(const tlm::tlm_generic_payload& p) const override;

  void issue(dram_command c, unsigned bank, cycle_t cycle);
  void issue_next(std::size_t index, cycle_t now);
  void activate(dram_request& r, cycle_t now);
  void precharge(unsigned bank, cycle_t cycle);
  void issue_column(std::size_t index, cycle_t now);
  bool close_after(unsigned bank, cycle_t last);
  void account_gap(const dram_request& r, unsigned bursts, cycle_t now);
  void catch_up(cycle_t now);
  void skip_refreshes(cycle_t now);
  bool refresh_before(cycle_t now, unsigned bank, cycle_t due);
  bool close_row(cycle_t now);
  void begin_refresh(cycle_t now);
  void refresh_all(cycle_t now);
  bool continue_refresh(cycle_t now);
  void refreshed(unsigned bank, cycle_t from, cycle_t cycle);
  [[nodiscard]] unsigned bursts_of(const tlm::tlm_generic_payload& p) const;

  dram_parameters parameters_;
  cycle_t request_latency_;
  cycle_t response_latency_;
  cycle_t data_cycles_ = 0;  // per burst
  dram_timing timing_;
  dram_queue queue_;
  std::unique_ptr<dram_scheduler> scheduler_;
  std::unique_ptr<row_policy> row_policy_;
  std::unique_ptr<refresh_policy> refresh_policy_;
  command_observer* observer_ = nullptr;
  unsigned index_in_memory_;
  unsigned channels_;
  cycle_t quiet_until_ = 0;      // no command for the requests that are ready now can issue before; 0: not known
  bool quiet_starving_ = false;  // whether the oldest request was starving when quiet_until_ was found
  bool idle_ = true;             // no request since the last work
  cycle_t last_command_ = 0;
  // Rows that the row policy closes.
  std::vector<cycle_t> close_at_;  // by bank; never: not
  cycle_t next_close_ = never;     // no row is to be closed before
  // Refresh.
  cycle_t next_refresh_ = never;
  unsigned refreshing_ = no_bank;  // waits for its precharge or refresh
  cycle_t refresh_due_ = 0;
  unsigned refreshed_bank_ = no_bank;  // in the last refresh; or all banks
  cycle_t refresh_from_ = 0;           // start of the last refresh
  cycle_t refresh_until_ = 0;
  std::uint64_t refreshes_ = 0;
  // Attribution of the data bus's time.
  cycle_t bus_end_ = 0;     // end of the last data
  cycle_t work_since_ = 0;  // start of the present interval in which a request is ready
  std::uint32_t last_launch_ = ~std::uint32_t{0};
  cycle_t between_launches_ = 0;  // gaps between requests of different launches
  cycle_t answered_at_ = 0;       // cycle of the last response that was scheduled
  std::uint64_t row_hits_ = 0;    // of all launches, for the trace
  std::uint64_t row_misses_ = 0;
};

}  // namespace heddle

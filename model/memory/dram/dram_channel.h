// SPDX-License-Identifier: MIT
// Models: one DRAM channel and its controller: banks with open rows, FR-FCFS, data bus turnaround, refresh.
// Sockets: request_socket (target).
// One cycle: at most one command issues: a request's column commands (all its bursts in a row), activate or precharge.
// Parameters: [dram], memory.channels. Source: docs/memory.md; Rixner et al., Memory Access Scheduling, ISCA 2000.
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/memory/dram/memory_model.h"

namespace heddle {

/// All cycles are of the command clock. Without load and with its bank closed, a read whose BEGIN_REQ comes in cycle t
/// is answered in cycle t + 1 + controller_latency + t_rcd + t_cl + data cycles (with its row open, without t_rcd).
/// Rows stay open until another row of the bank is needed. A row's bytes are consecutive in the channel. Consecutive
/// rows lie in consecutive banks, rotated by one per round so that strides of whole rounds do not stay in one bank.
class dram_channel : public memory_model {
 public:
  /// A request that has waited longer has priority over all others; no command that would delay it issues.
  static constexpr cycle_t starvation_cycles = 512;

  dram_channel(sc_core::sc_module_name name, clock_domain& dram_clock, const gpu_config& config, unsigned index);

  void trace(sc_core::sc_trace_file* file) const override;
  void check_invariants() const override;

  /// Bank and row of a byte of this channel.
  unsigned bank_of(std::uint64_t local_address) const;
  std::uint64_t row_of(std::uint64_t local_address) const;
  /// Refreshes begun. Refreshes missed while the channel slept are counted when it wakes.
  std::uint64_t refreshes() const { return refreshes_; }
  /// The cycle after the last byte on the data bus so far. The bus cycles of all launches and between launches add up
  /// to it.
  cycle_t bus_end() const { return bus_end_; }

 private:
  enum class command : std::uint8_t { none, column, activate, precharge };
  struct entry {
    tlm::tlm_generic_payload* payload = nullptr;
    cycle_t ready = 0;  // after the controller's request latency
    std::uint64_t row = 0;
    unsigned bank = 0;
    unsigned bursts = 0;  // column commands
    std::uint32_t launch = 0;
    bool write = false;
    bool activated = false;  // its row was activated for this request
    bool hit = false;        // it is ready and its row is open
  };
  struct bank_state {
    bool open = false;
    std::uint64_t row = 0;
    cycle_t activate_at = 0;   // earliest activate (after precharge or refresh)
    cycle_t column_at = 0;     // earliest column command (after activate)
    cycle_t precharge_at = 0;  // earliest precharge
  };
  struct choice {
    command what = command::none;
    std::size_t index = 0;
    cycle_t next = never;  // earliest cycle of a command if none can issue now
  };

  void enter(tlm::tlm_generic_payload& p, cycle_t arrival) override;
  cycle_t work(cycle_t now) override;
  cycle_t unloaded_cycles(const tlm::tlm_generic_payload& p) const override;

  void admit_ready(cycle_t now);
  void find_hits(unsigned bank);
  choice choose(bool starving, cycle_t now);
  void choose_column(choice& best, const bool (&barred)[2], cycle_t now) const;
  void choose_row(choice& best, cycle_t now);
  void consider_oldest(choice& best, cycle_t now) const;
  void consider(choice& best, command what, std::size_t index, cycle_t earliest, cycle_t now) const;
  cycle_t column_earliest(const entry& e) const;
  void issue(const choice& c, cycle_t now);
  void issue_column(std::size_t index, cycle_t now);
  void account_gap(const entry& e, cycle_t now);
  void refresh(cycle_t now);
  unsigned bursts_of(const tlm::tlm_generic_payload& p) const;

  dram_parameters parameters_;
  cycle_t request_latency_;
  cycle_t response_latency_;
  cycle_t data_cycles_;  // per burst
  cycle_t column_interval_;
  std::vector<bank_state> banks_;
  std::vector<entry> queue_;          // in order of arrival
  std::size_t ready_ = 0;             // the first ready_ entries are ready
  std::vector<std::uint8_t> wanted_;  // by bank, during a choice: 1 claimed, 2 reserved for a starving request
  std::vector<unsigned> hits_;        // by bank: ready requests for its open row
  std::size_t all_hits_ = 0;
  cycle_t quiet_until_ = 0;      // no command for the entries that are ready now can issue before; 0: not known
  bool quiet_starving_ = false;  // whether the oldest request was starving when quiet_until_ was found
  cycle_t activate_at_ = 0;      // earliest activate of any bank
  cycle_t read_at_ = 0;          // earliest read command
  cycle_t write_at_ = 0;         // earliest write command
  cycle_t next_refresh_ = never;
  cycle_t refresh_from_ = 0;  // start of the last refresh
  cycle_t refresh_until_ = 0;
  // Attribution of the data bus's time.
  cycle_t bus_end_ = 0;     // end of the last data
  cycle_t work_since_ = 0;  // start of the present interval in which a request is ready
  std::uint32_t last_launch_ = ~std::uint32_t{0};
  cycle_t between_launches_ = 0;  // gaps between requests of different launches
  cycle_t answered_at_ = 0;       // cycle of the last response that was scheduled
  std::uint64_t refreshes_ = 0;
  std::uint32_t open_banks_ = 0;
  std::uint64_t row_hits_ = 0;  // of all launches, for the trace
  std::uint64_t row_misses_ = 0;
};

}  // namespace heddle

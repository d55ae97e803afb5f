// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "heddle/config/dram_standard.h"
#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// The constraints of a channel's standard, kept as earliest times: a command that issues moves the earliest times of
/// the commands that follow it, in its bank, bank group, rank and channel. Whether a command may issue is then a
/// comparison with the largest of four numbers.
class dram_timing {
 public:
  explicit dram_timing(const dram_parameters& parameters);

  /// Earliest cycle of a command of a bank. `never` while the bank is reserved (reserve()) and the command is act.
  [[nodiscard]] cycle_t earliest(dram_command c, unsigned bank) const {
    const unsigned slot = slot_of(c);
    const cycle_t shared = std::max(banks_[bank].at[slot], channel_.at[slot]);
    return flat_ ? shared : std::max(shared, within_channel(slot, bank));
  }
  /// The same without what the bank itself forbids: the data bus and the bank's group.
  [[nodiscard]] cycle_t beyond_bank(dram_command c, unsigned bank) const {
    const unsigned slot = slot_of(c);
    return flat_ ? channel_.at[slot] : std::max(channel_.at[slot], within_channel(slot, bank));
  }
  /// Earliest cycle in which the channel takes a read or a write.
  [[nodiscard]] cycle_t bus_free() const { return std::min(channel_.at[read], channel_.at[write]); }

  /// The command issues in a cycle, which may lie in the future if no command that it affects issues before it. Those
  /// of all banks (prea, refab) affect all ranks.
  void issue(dram_command c, unsigned bank, cycle_t cycle);
  /// The bank activates no row until it was refreshed (refpb). One bank can be reserved at a time.
  void reserve(unsigned bank) { unreserved_ = std::exchange(banks_[bank].at[activate], never); }

  [[nodiscard]] unsigned banks() const { return static_cast<unsigned>(banks_.size()); }
  /// Neighbouring banks are of different groups.
  [[nodiscard]] unsigned group_of(unsigned bank) const { return bank % static_cast<unsigned>(groups_.size()); }
  [[nodiscard]] unsigned rank_of(unsigned bank) const {
    return bank / groups_per_rank_ % static_cast<unsigned>(ranks_.size());
  }
  /// Cycles between the bursts of a request, which are all in one bank.
  [[nodiscard]] cycle_t burst_interval() const { return burst_interval_; }
  void exchange(state_image& image);

 private:
  enum slot : unsigned { activate, precharge, read, write, refresh_all, refresh_bank, none };
  static constexpr unsigned slots = none + 1;  // the last is never read
  struct alignas(64) times {                   // a cache line
    std::array<cycle_t, slots> at{};
    void exchange(state_image& image) { image(at); }
  };
  struct compiled_row {
    dram_level level;
    unsigned slot;
    bool others;
    cycle_t cycles;
  };

  static constexpr unsigned slot_of(dram_command c) {
    constexpr std::uint8_t slot[dram_commands] = {activate, precharge, none,        read,        read,
                                                  write,    write,     refresh_all, refresh_bank};
    return slot[static_cast<unsigned>(c)];
  }
  [[nodiscard]] cycle_t within_channel(unsigned slot, unsigned bank) const {
    return std::max(ranks_[rank_of(bank)].at[slot], groups_[group_of(bank)].at[slot]);
  }
  static void raise(times& t, unsigned slot, cycle_t to) { t.at[slot] = std::max(t.at[slot], to); }
  void compile(const dram_constraint& row, const dram_parameters& parameters, const dram_cycles& cycles);
  void apply(const compiled_row& row, unsigned bank, cycle_t cycle) {
    const cycle_t to = cycle + row.cycles;
    if (row.level == dram_level::bank) raise(banks_[bank], row.slot, to);
    else if (row.level == dram_level::channel) raise(channel_, row.slot, to);
    else apply_between(row, bank, to);
  }
  void apply_between(const compiled_row& row, unsigned bank, cycle_t to);
  void count_activate(unsigned rank, cycle_t cycle);

  std::array<std::vector<compiled_row>, dram_commands> rows_;  // by preceding command
  bool flat_;                                                  // one rank, no groups
  unsigned groups_per_rank_;
  times channel_;
  std::vector<times> ranks_;
  std::vector<times> groups_;  // of all ranks
  std::vector<times> banks_;
  // The last activates of each rank, for the window of tFAW.
  unsigned window_ = 0;
  cycle_t window_cycles_ = 0;
  std::vector<cycle_t> activates_;  // `window_` of each rank, a ring
  std::vector<unsigned> oldest_;    // by rank: place of the oldest in its ring
  cycle_t burst_interval_ = 0;
  cycle_t unreserved_ = 0;  // earliest activate of the reserved bank without the reservation
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
// Replays the commands of a DRAM channel against every row of its standard. It shares the tables and nothing else with
// the model: each command is compared with all earlier ones that a row could still bind.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "heddle/memory/dram/timing/command_observer.h"

namespace heddle::test {

class dram_checker : public command_observer {
 public:
  explicit dram_checker(const dram_parameters& p) : p_(p), standard_(standard_of(p.standard)), cycles_(times_of(p)) {}

  void issued(dram_command command, unsigned bank, std::uint64_t row, cycle_t cycle) override {
    log.push_back({command, bank, row, cycle});
  }

  struct event {
    dram_command command;
    unsigned bank;
    std::uint64_t row;
    cycle_t cycle;
  };
  std::vector<event> log;

  [[nodiscard]] std::uint64_t count(dram_command c) const {
    return std::count_if(log.begin(), log.end(), [&](const event& e) { return e.command == c; });
  }
  /// Violations by text, with how often each occurs.
  std::map<std::string, unsigned> violations() {
    found_.clear();
    std::stable_sort(log.begin(), log.end(), [](const event& a, const event& b) { return a.cycle < b.cycle; });
    check_states();
    for (std::size_t j = 0; j < log.size(); ++j)
      for (const dram_constraint_rows& set : standard_.rows)
        for (const dram_constraint* row = set.first; row != set.last; ++row) check(*row, j);
    return found_;
  }

 private:
  static bool is(dram_command of_row, dram_command c) {
    return of_row == c || (of_row == dram_command::rd && c == dram_command::rda) ||
           (of_row == dram_command::wr && c == dram_command::wra);
  }
  static bool is_column(dram_command c) { return c >= dram_command::rd && c <= dram_command::wra; }
  static bool is_of_all(dram_command c) { return c == dram_command::prea || c == dram_command::refab; }
  [[nodiscard]] unsigned group(unsigned bank) const { return bank % p_.bank_groups; }
  [[nodiscard]] unsigned rank(unsigned bank) const { return bank / p_.bank_groups % p_.ranks; }

  [[nodiscard]] bool same(dram_level level, const event& a, const event& b) const {
    const bool of_all = is_of_all(a.command) || is_of_all(b.command);  // of every rank
    switch (level) {
      case dram_level::channel:
      case dram_level::pseudo_channel: return true;
      case dram_level::rank: return of_all || rank(a.bank) == rank(b.bank);
      case dram_level::bank_group:
        return p_.bank_groups > 1 && rank(a.bank) == rank(b.bank) && group(a.bank) == group(b.bank);
      default: return a.bank == b.bank;
    }
  }

  void check(const dram_constraint& row, std::size_t j) {
    const event& after = log[j];
    if (!is(row.after, after.command)) return;
    const std::uint64_t needed = row.cycles.of(cycles_);
    unsigned left = row.window;
    for (std::size_t i = j; i-- > 0 && log[i].cycle + needed > after.cycle;) {  // in order of their cycles
      const event& before = log[i];
      if (!is(row.before, before.command)) continue;
      if (row.others ? rank(before.bank) == rank(after.bank) : !same(row.level, before, after)) continue;
      if (--left != 0) continue;
      ++found_[std::string(text_of(before.command)) + " to " + text_of(after.command) + ", " + std::to_string(needed) +
               " cycles"];
      if (row.window > 1) return;
      left = 1;
    }
  }

  // Rows are opened when they are closed, and accessed when they are open; one row and one column command a cycle.
  void check_states() {
    struct state {
      bool open = false;
      std::uint64_t row = 0;
      cycle_t closed_by_itself = 0;  // end of the precharge after rda, wra
      cycle_t opened = 0;
    };
    std::vector<state> banks(p_.banks);
    cycle_t last[2] = {never, never};
    const auto t = [&](dram_time time) { return cycle_t{cycles_[static_cast<unsigned>(time)]}; };
    for (const event& e : log) {
      cycle_t& same_bus = last[is_column(e.command)];
      if (same_bus == e.cycle) ++found_["two commands in one cycle"];
      same_bus = e.cycle;
      if (is_of_all(e.command)) {
        for (state& b : banks) {
          if (e.command == dram_command::refab && b.open) ++found_["REFab with an open row"];
          b.open = false;
        }
        continue;
      }
      state& b = banks[e.bank];
      switch (e.command) {
        case dram_command::act:
          if (b.open) ++found_["ACT of an open bank"];
          if (e.cycle < b.closed_by_itself) ++found_["ACT before the precharge of RDA or WRA is over"];
          b.open = true;
          b.row = e.row;
          b.opened = e.cycle;
          break;
        case dram_command::pre:
          if (!b.open) ++found_["PRE of a closed bank"];
          b.open = false;
          break;
        case dram_command::refpb:
          if (b.open) ++found_["REFpb with an open row"];
          if (e.cycle < b.closed_by_itself) ++found_["REFpb before the precharge of RDA or WRA is over"];
          break;
        default:
          if (!b.open || b.row != e.row) ++found_["a column command without its row"];
          if (e.command != dram_command::rda && e.command != dram_command::wra) break;
          b.open = false;
          const cycle_t of_column = e.command == dram_command::rda
                                        ? t(dram_time::rtp)
                                        : t(dram_time::cwl) + t(dram_time::bl) + t(dram_time::wr);
          b.closed_by_itself = std::max(e.cycle + of_column, b.opened + t(dram_time::ras)) + t(dram_time::rp);
      }
    }
  }

  dram_parameters p_;
  const dram_standard& standard_;
  dram_cycles cycles_;
  std::map<std::string, unsigned> found_;
};

}  // namespace heddle::test

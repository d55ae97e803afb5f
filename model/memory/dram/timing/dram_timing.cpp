// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/timing/dram_timing.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

namespace {

bool is_column_or_same(dram_command row, dram_command c) {
  return row == c || (row == dram_command::rd && c == dram_command::rda) ||
         (row == dram_command::wr && c == dram_command::wra);
}

}  // namespace

// Bank b is of group b % groups of all ranks: neighbours differ in their group, then in their rank.
dram_timing::dram_timing(const dram_parameters& parameters)
    : flat_(parameters.ranks == 1 && parameters.bank_groups == 1),
      groups_per_rank_(std::max(1u, parameters.bank_groups)),
      ranks_(std::max(1u, parameters.ranks)),
      groups_(std::size_t{std::max(1u, parameters.ranks)} * groups_per_rank_),
      banks_(parameters.banks),
      oldest_(ranks_.size(), 0) {
  const dram_standard& standard = standard_of(parameters.standard);
  const dram_cycles cycles = times_of(parameters);
  for (const dram_constraint_rows& set : standard.rows)
    for (const dram_constraint* row = set.first; row != set.last; ++row) compile(*row, parameters, cycles);
  const auto time = [&](dram_time t) { return cycle_t{cycles[static_cast<unsigned>(t)]}; };
  burst_interval_ = std::max(time(dram_time::ccd_s), time(dram_time::bl));
  if (parameters.bank_groups > 1) burst_interval_ = std::max(burst_interval_, time(dram_time::ccd_l));
}

// Rows that never delay anything are left out. A level with a single instance is the level above it, but a single bank
// group is none: its rows are left out.
void dram_timing::compile(const dram_constraint& row, const dram_parameters& parameters, const dram_cycles& cycles) {
  const cycle_t delay = row.cycles.of(cycles);
  const unsigned after = slot_of(row.after);
  if (delay == 0 || after == none) return;  // a prea is timed by its banks' own precharges
  if (row.window > 1) {
    if (row.before != dram_command::act || row.after != dram_command::act || row.level != dram_level::rank ||
        window_ != 0)
      throw internal_error("dram: a standard has one window, of a rank's activates");
    window_ = row.window;
    window_cycles_ = delay;
    activates_.assign(ranks_.size() * window_, never);
    return;
  }
  compiled_row compiled{row.level, after, row.others, delay};
  switch (row.level) {
    case dram_level::channel:
    case dram_level::pseudo_channel: compiled.level = dram_level::channel; break;
    case dram_level::rank:
      if (parameters.ranks == 1) compiled.level = dram_level::channel;
      if (parameters.ranks == 1 && row.others) return;
      break;
    case dram_level::bank_group:
      if (parameters.bank_groups == 1) return;
      break;
    case dram_level::bank: break;
    case dram_level::row:
    case dram_level::column: throw internal_error("dram: rows and columns have no constraints of their own");
  }
  for (unsigned c = 0; c < dram_commands; ++c) {
    if (!is_column_or_same(row.before, static_cast<dram_command>(c))) continue;
    std::vector<compiled_row>& rows = rows_[c];
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const compiled_row& r) {
      return r.level == compiled.level && r.slot == compiled.slot && r.others == compiled.others;
    });
    if (same == rows.end()) rows.push_back(compiled);
    else same->cycles = std::max(same->cycles, delay);
  }
}

// Rows of the levels between bank and channel.
void dram_timing::apply_between(const compiled_row& row, unsigned bank, cycle_t to) {
  if (row.level == dram_level::bank_group) {
    raise(groups_[group_of(bank)], row.slot, to);
    return;
  }
  for (unsigned r = 0; r < ranks_.size(); ++r)
    if ((r == rank_of(bank)) != row.others) raise(ranks_[r], row.slot, to);
}

void dram_timing::count_activate(unsigned rank, cycle_t cycle) {
  cycle_t* const ring = &activates_[std::size_t{rank} * window_];
  unsigned& oldest = oldest_[rank];
  ring[oldest] = cycle;
  oldest = oldest + 1 == window_ ? 0 : oldest + 1;
  if (ring[oldest] == never) return;  // fewer than a window of them yet
  raise(ranks_.size() == 1 ? channel_ : ranks_[rank], activate, ring[oldest] + window_cycles_);
}

void dram_timing::issue(dram_command c, unsigned bank, cycle_t cycle) {
  const std::vector<compiled_row>& rows = rows_[static_cast<unsigned>(c)];
  switch (c) {
    case dram_command::prea:
    case dram_command::refab:
      // One of each rank.
      for (unsigned r = 0; r < ranks_.size(); ++r)
        for (const compiled_row& row : rows) apply(row, r * groups_per_rank_, cycle);
      return;
    case dram_command::refpb: banks_[bank].at[activate] = unreserved_; break;
    default: break;
  }
  for (const compiled_row& row : rows) apply(row, bank, cycle);
  if (window_ != 0 && c == dram_command::act) count_activate(rank_of(bank), cycle);
}

void dram_timing::exchange(state_image& image) {
  image(channel_, unreserved_);
  image.each(ranks_);
  image.each(groups_);
  image.each(banks_);
  image.each(activates_);
  image.each(oldest_);
}

}  // namespace heddle

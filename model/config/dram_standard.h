// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heddle/config/parameters.h"

/// A DRAM standard as data: its levels, its commands, and rows of constraints between commands, whose cycles are
/// formulas of named times. The controller compiles the rows (memory/dram/timing/dram_timing.h); the tables of
/// standards and of presets are in dram_standards.cpp.
namespace heddle {

/// From the outside to the inside. Rows of a level that a standard lacks, or has once, hold in the level above it.
enum class dram_level : std::uint8_t { channel, pseudo_channel, rank, bank_group, bank, row, column };

/// rda and wra are a read and a write that precharge their bank afterwards.
enum class dram_command : std::uint8_t { act, pre, prea, rd, rda, wr, wra, refab, refpb };
constexpr unsigned dram_commands = 9;
/// "ACT", "REFpb".
const char* text_of(dram_command command);

/// Times of a DRAM, named as in the data sheets. `bl` is the data cycles of a burst, `ccd_s` to `wtr_l` hold between
/// different bank groups (S) or in one (L), `rtw` is the idle cycles of the data bus between read and write data, `cs`
/// those between data of two ranks.
enum class dram_time : std::uint8_t {
  cl,
  cwl,
  bl,
  rcd,
  rp,
  ras,
  rc,
  ccd_s,
  ccd_l,
  rrd_s,
  rrd_l,
  faw,
  wr,
  wtr_s,
  wtr_l,
  rtp,
  rtw,
  cs,
  refi,
  rfc,
  rfc_pb
};
constexpr unsigned dram_times = 21;
using dram_cycles = std::array<unsigned, dram_times>;

/// The times of a configuration.
dram_cycles times_of(const dram_parameters& dram);

/// A sum of named times.
struct dram_formula {
  std::array<std::int8_t, dram_times> weight{};

  constexpr dram_formula() = default;
  constexpr dram_formula(dram_time t) { weight[static_cast<unsigned>(t)] = 1; }

  /// Not below 0.
  [[nodiscard]] std::uint64_t of(const dram_cycles& cycles) const;
};
constexpr dram_formula operator+(dram_formula a, const dram_formula& b) {
  for (unsigned i = 0; i < dram_times; ++i) a.weight[i] = static_cast<std::int8_t>(a.weight[i] + b.weight[i]);
  return a;
}
constexpr dram_formula operator-(dram_formula a, const dram_formula& b) {
  for (unsigned i = 0; i < dram_times; ++i) a.weight[i] = static_cast<std::int8_t>(a.weight[i] - b.weight[i]);
  return a;
}
constexpr dram_formula operator+(dram_time a, dram_time b) { return dram_formula(a) + dram_formula(b); }
constexpr dram_formula operator-(dram_time a, dram_time b) { return dram_formula(a) - dram_formula(b); }

/// The `window`-th `after` that follows `before` in the same instance of a level comes at least `cycles` later. With
/// `others`: in the other instances of the level. A row for rd also holds for rda, one for wr for wra.
struct dram_constraint {
  dram_level level = dram_level::channel;
  dram_command before = dram_command::act;
  dram_command after = dram_command::act;
  dram_formula cycles;
  unsigned window = 1;
  bool others = false;
};

/// Rows that standards share.
struct dram_constraint_rows {
  const dram_constraint* first = nullptr;
  const dram_constraint* last = nullptr;
};

/// A figure of a memory, and where it is from.
struct dram_figure {
  dram_time time = dram_time::cl;
  unsigned cycles = 0;
  const char* source = "";
};

/// One channel of a memory at one speed: what `dram.standard` and `dram.preset` set.
struct dram_memory {
  const char* name = "";   // in the INI file
  const char* speed = "";  // "DDR4-3200, 64 pins"
  double clock_mhz = 0;
  unsigned bytes_per_cycle = 0;
  unsigned burst_bytes = 0;
  unsigned bank_groups = 1;
  unsigned banks = 0;  // 0: sets nothing
  unsigned row_bytes = 0;
  const char* source = "";  // of these six
  const dram_figure* first_figure = nullptr;
  const dram_figure* last_figure = nullptr;
  // The times without a figure are those of this memory, in cycles of the own clock, rounded up; nullptr: they are 0.
  const dram_memory* like = nullptr;
};
/// All its figures.
std::vector<dram_figure> figures_of(const dram_memory& memory);

struct dram_standard {
  dram_memory memory;  // at its most common speed
  std::array<bool, 7> levels{};
  std::array<bool, dram_commands> commands{};
  std::array<dram_constraint_rows, 7> rows;  // unused ones are empty

  [[nodiscard]] bool has(dram_level level) const { return levels[static_cast<unsigned>(level)]; }
  [[nodiscard]] bool has(dram_command command) const { return commands[static_cast<unsigned>(command)]; }
};

const dram_standard& standard_of(choice::dram_standard name);
const dram_memory& preset_of(choice::dram_preset name);

/// Sets what `dram.preset` determines: clock, width, burst, banks, rows and times, and the generic standard. The
/// controller (queue, latency, policies) and the number of channels do not change. Has no effect for `none`.
void apply_dram_preset(dram_parameters& dram);
/// The same for `dram.standard`, which also determines levels and commands. Has no effect for `generic`, which
/// constrains whatever the parameters say.
void apply_dram_standard(dram_parameters& dram);

}  // namespace heddle

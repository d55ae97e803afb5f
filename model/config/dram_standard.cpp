// SPDX-License-Identifier: MIT
#include "heddle/config/dram_standard.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

namespace {

/// The parameter of a time; nullptr for the data cycles of a burst, which follow from other parameters.
unsigned dram_parameters::*member_of(dram_time time) {
  using p = dram_parameters;
  using t = dram_time;
  switch (time) {
    case t::cl: return &p::t_cl_cycles;
    case t::cwl: return &p::t_wl_cycles;
    case t::bl: return nullptr;
    case t::rcd: return &p::t_rcd_cycles;
    case t::rp: return &p::t_rp_cycles;
    case t::ras: return &p::t_ras_cycles;
    case t::rc: return &p::t_rc_cycles;
    case t::ccd_s: return &p::t_ccd_cycles;
    case t::ccd_l: return &p::t_ccd_l_cycles;
    case t::rrd_s: return &p::t_rrd_cycles;
    case t::rrd_l: return &p::t_rrd_l_cycles;
    case t::faw: return &p::t_faw_cycles;
    case t::wr: return &p::t_wr_cycles;
    case t::wtr_s: return &p::t_wtr_cycles;
    case t::wtr_l: return &p::t_wtr_l_cycles;
    case t::rtp: return &p::t_rtp_cycles;
    case t::rtw: return &p::t_rtw_cycles;
    case t::cs: return &p::t_cs_cycles;
    case t::refi: return &p::t_refi_cycles;
    case t::rfc: return &p::t_rfc_cycles;
    case t::rfc_pb: return &p::t_rfc_pb_cycles;
  }
  throw internal_error("unknown DRAM time");
}

/// A row of dram_presets.h.
struct dram_preset_row {
  choice::dram_preset name;
  double clock_mhz;
  unsigned bytes_per_cycle;
  unsigned burst_bytes;
  unsigned row_bytes;
  unsigned times[12];
};
constexpr dram_preset_row dram_preset_rows[] = {
#define HEDDLE_X(name, clock_mhz, bytes_per_cycle, burst_bytes, row_bytes, ...) \
  {choice::dram_preset::name, clock_mhz, bytes_per_cycle, burst_bytes, row_bytes, {__VA_ARGS__}},
    HEDDLE_DRAM_PRESETS(HEDDLE_X)
#undef HEDDLE_X
};

}  // namespace

const char* text_of(dram_command command) {
  static constexpr const char* names[dram_commands] = {"ACT", "PRE", "PREA",  "RD",   "RDA",
                                                       "WR",  "WRA", "REFab", "REFpb"};
  return names[static_cast<unsigned>(command)];
}

dram_cycles times_of(const dram_parameters& dram) {
  dram_cycles cycles{};
  for (unsigned i = 0; i < dram_times; ++i) {
    const auto member = member_of(static_cast<dram_time>(i));
    cycles[i] = member != nullptr ? dram.*member
                                  : (dram.burst_bytes + dram.bytes_per_cycle - 1) / std::max(1u, dram.bytes_per_cycle);
  }
  return cycles;
}

std::uint64_t dram_formula::of(const dram_cycles& cycles) const {
  std::int64_t sum = 0;
  for (unsigned i = 0; i < dram_times; ++i) sum += std::int64_t{weight[i]} * cycles[i];
  return static_cast<std::uint64_t>(std::max<std::int64_t>(sum, 0));
}

void apply_dram_preset(dram_parameters& dram) {
  if (dram.preset == choice::dram_preset::none) return;
  for (const dram_preset_row& p : dram_preset_rows) {
    if (dram.preset != p.name) continue;
    dram.standard = choice::dram_standard::generic;
    dram.clock_mhz = p.clock_mhz;
    dram.bytes_per_cycle = p.bytes_per_cycle;
    dram.burst_bytes = p.burst_bytes;
    dram.ranks = 1;
    dram.bank_groups = 1;
    // The channel of hbm3 is two pseudo-channels, each of two ranks of 16 (configs/h100.ini).
    dram.banks = dram.preset == choice::dram_preset::hbm3 ? 64 : 16;
    dram.row_bytes = p.row_bytes;
    unsigned* const times[] = {&dram.t_rcd_cycles, &dram.t_rp_cycles,  &dram.t_cl_cycles,   &dram.t_wl_cycles,
                               &dram.t_ras_cycles, &dram.t_ccd_cycles, &dram.t_rrd_cycles,  &dram.t_wr_cycles,
                               &dram.t_rtp_cycles, &dram.t_wtr_cycles, &dram.t_refi_cycles, &dram.t_rfc_cycles};
    for (unsigned i = 0; i < 12; ++i) *times[i] = p.times[i];
    for (unsigned* const none : {&dram.t_rc_cycles, &dram.t_ccd_l_cycles, &dram.t_rrd_l_cycles, &dram.t_faw_cycles,
                                 &dram.t_wtr_l_cycles, &dram.t_cs_cycles, &dram.t_rfc_pb_cycles})
      *none = 0;
    dram.t_rtw_cycles = 1;
  }
}

void apply_dram_standard(dram_parameters& dram) {
  const dram_standard& s = standard_of(dram.standard);
  if (s.banks == 0) return;
  dram.preset = choice::dram_preset::none;
  dram.clock_mhz = s.clock_mhz;
  dram.bytes_per_cycle = s.bytes_per_cycle;
  dram.burst_bytes = s.burst_bytes;
  dram.ranks = 1;
  dram.bank_groups = s.bank_groups;
  dram.banks = s.banks;
  dram.row_bytes = s.row_bytes;
  for (const dram_figure* f = s.first_figure; f != s.last_figure; ++f) dram.*member_of(f->time) = f->cycles;
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/config/dram_standard.h"

#include <algorithm>
#include <cmath>

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

void apply(dram_parameters& dram, const dram_memory& memory) {
  dram.clock_mhz = memory.clock_mhz;
  dram.bytes_per_cycle = memory.bytes_per_cycle;
  dram.burst_bytes = memory.burst_bytes;
  dram.ranks = 1;
  dram.bank_groups = memory.bank_groups;
  dram.banks = memory.banks;
  dram.row_bytes = memory.row_bytes;
  for (unsigned i = 0; i < dram_times; ++i)
    if (const auto time = member_of(static_cast<dram_time>(i)); time != nullptr) dram.*time = 0;
  for (const dram_figure& f : figures_of(memory)) dram.*member_of(f.time) = f.cycles;
}

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

std::vector<dram_figure> figures_of(const dram_memory& memory) {
  std::vector<dram_figure> figures(memory.first_figure, memory.last_figure);
  if (memory.like == nullptr) return figures;
  for (dram_figure f : figures_of(*memory.like)) {
    const auto same = [&f](const dram_figure& own) { return own.time == f.time; };
    if (std::any_of(memory.first_figure, memory.last_figure, same)) continue;
    constexpr double rounding_error = 1e-9;
    f.cycles = static_cast<unsigned>(std::ceil(f.cycles * memory.clock_mhz / memory.like->clock_mhz - rounding_error));
    figures.push_back(f);
  }
  return figures;
}

void apply_dram_preset(dram_parameters& dram) {
  const dram_memory& memory = preset_of(dram.preset);
  if (memory.banks == 0) return;
  dram.standard = choice::dram_standard::generic;
  apply(dram, memory);
}

void apply_dram_standard(dram_parameters& dram) {
  const dram_memory& memory = standard_of(dram.standard).memory;
  if (memory.banks == 0) return;
  dram.preset = choice::dram_preset::none;
  apply(dram, memory);
}

}  // namespace heddle

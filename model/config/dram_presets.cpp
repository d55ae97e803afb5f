// SPDX-License-Identifier: MIT
// One channel of each memory kind, at its most common speed. Timings are those of the shipped GPU with that memory,
// whose configuration names their sources. Those of hbm2e are the times of hbm2 (Accel-Sim, A100) in cycles of its
// clock. A preset has no bank groups, which the standards of dram_standards.cpp have.
#include "heddle/config/dram_standard.h"

namespace heddle {

namespace {

struct preset {
  choice::dram_preset kind;
  double clock_mhz;
  unsigned bytes_per_cycle;
  unsigned burst_bytes;
  unsigned row_bytes;
  // t_rcd, t_rp, t_cl, t_wl, t_ras, t_ccd, t_rrd, t_wr, t_rtp, t_wtr, t_refi, t_rfc
  unsigned times[12];
};

using kind = choice::dram_preset;
constexpr preset presets[] = {
    // 32 pins of 7 Gbit/s (GTX 980)
    {kind::gddr5, 1753, 16, 32, 2048, {16, 16, 16, 6, 37, 2, 8, 18, 3, 8, 0, 0}},
    // 32 pins of 10 Gbit/s (GTX 1080)
    {kind::gddr5x, 1251, 32, 32, 2048, {16, 16, 16, 6, 37, 1, 8, 16, 3, 7, 0, 0}},
    // 16 pins of 14 Gbit/s (RTX 2060)
    {kind::gddr6, 1750, 16, 32, 2048, {12, 12, 12, 4, 28, 2, 6, 12, 2, 5, 0, 0}},
    // 16 pins of 19 Gbit/s (RTX 3080)
    {kind::gddr6x, 2375, 16, 32, 2048, {16, 16, 16, 5, 38, 2, 8, 16, 3, 7, 0, 0}},
    // A pseudo-channel of 64 pins, 1.75 Gbit/s (V100)
    {kind::hbm2, 877, 16, 32, 1024, {12, 12, 12, 2, 28, 2, 3, 10, 3, 3, 3420, 228}},
    // 64 pins, 3.19 Gbit/s (A100 of 80 GB: 80 channels reach its 2039 GB/s)
    {kind::hbm2e, 1593, 16, 32, 1024, {24, 24, 24, 5, 53, 2, 8, 21, 8, 5, 0, 0}},
    // Two pseudo-channels of 32 pins as one, 5.2 Gbit/s (H100)
    {kind::hbm3, 2617, 16, 32, 1024, {36, 36, 36, 6, 84, 2, 9, 30, 9, 9, 0, 0}},
};

}  // namespace

void apply_dram_preset(dram_parameters& dram) {
  for (const preset& p : presets) {
    if (dram.preset != p.kind) continue;
    dram.standard = choice::dram_standard::generic;
    dram.clock_mhz = p.clock_mhz;
    dram.bytes_per_cycle = p.bytes_per_cycle;
    dram.burst_bytes = p.burst_bytes;
    dram.ranks = 1;
    dram.bank_groups = 1;
    dram.banks = 16;
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

}  // namespace heddle

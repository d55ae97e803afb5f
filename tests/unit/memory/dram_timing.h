// SPDX-License-Identifier: MIT
#pragma once

#include "memory_bench.h"

namespace heddle::test {

/// Timings chosen so that every sum is recognisable.
inline gpu_config timing() {
  gpu_config c;
  c.memory.channels = 1;
  c.dram.bytes_per_cycle = 32;
  c.dram.burst_bytes = 32;
  c.dram.banks = 4;
  c.dram.row_bytes = 1024;
  c.dram.queue_entries = 16;
  c.dram.controller_latency_cycles = 10;
  c.dram.t_rcd_cycles = 11;
  c.dram.t_rp_cycles = 13;
  c.dram.t_cl_cycles = 17;
  c.dram.t_wl_cycles = 5;
  c.dram.t_ras_cycles = 40;
  c.dram.t_ccd_cycles = 2;
  c.dram.t_rrd_cycles = 6;
  c.dram.t_wr_cycles = 9;
  c.dram.t_rtp_cycles = 3;
  c.dram.t_wtr_cycles = 7;
  return c;
}

/// Row r of bank b (4 banks, rotated by one bank per round).
constexpr std::uint64_t at(unsigned bank, unsigned row) {
  return (std::uint64_t{row} * 4 + (bank + 4 - row % 4) % 4) * 1024;
}

/// The cycle in which the request with this token was answered; 0: never.
inline cycle_t answered_in(const driver& slice, std::uint64_t token) {
  for (const auto& r : slice.records)
    if (r.token == token) return r.answered;
  return 0;
}

}  // namespace heddle::test

// SPDX-License-Identifier: MIT
// One channel of each memory kind, at its most common speed: the values that `dram.preset` sets. Timings are those of
// the shipped GPU with that memory, whose configuration names their sources. Those of hbm2e are the times of hbm2
// (Accel-Sim, A100) in cycles of its clock. A preset has no bank groups; the standards of dram_standards.cpp have them.
#pragma once

// clang-format off
/// X(name, clock in MHz, bytes per cycle, bytes of a burst, bytes of a row,
///   t_rcd, t_rp, t_cl, t_wl, t_ras, t_ccd, t_rrd, t_wr, t_rtp, t_wtr, t_refi, t_rfc). `none` sets nothing.
#define HEDDLE_DRAM_PRESETS(X) \
  X(none, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) \
  /* 32 pins of 7 Gbit/s (GTX 980) */ \
  X(gddr5, 1753, 16, 32, 2048,  16, 16, 16, 6, 37, 2, 8, 18, 3, 8, 0, 0) \
  /* 32 pins of 10 Gbit/s (GTX 1080) */ \
  X(gddr5x, 1251, 32, 32, 2048,  16, 16, 16, 6, 37, 1, 8, 16, 3, 7, 0, 0) \
  /* 16 pins of 14 Gbit/s (RTX 2060) */ \
  X(gddr6, 1750, 16, 32, 2048,  12, 12, 12, 4, 28, 2, 6, 12, 2, 5, 0, 0) \
  /* 16 pins of 19 Gbit/s (RTX 3080) */ \
  X(gddr6x, 2375, 16, 32, 2048,  16, 16, 16, 5, 38, 2, 8, 16, 3, 7, 0, 0) \
  /* A pseudo-channel of 64 pins, 1.75 Gbit/s (V100) */ \
  X(hbm2, 877, 16, 32, 1024,  12, 12, 12, 2, 28, 2, 3, 10, 3, 3, 3420, 228) \
  /* 64 pins, 3.19 Gbit/s (A100 of 80 GB: 80 channels reach its 2039 GB/s) */ \
  X(hbm2e, 1593, 16, 32, 1024,  24, 24, 24, 5, 53, 2, 8, 21, 8, 5, 0, 0) \
  /* Two pseudo-channels of 32 pins as one, 5.2 Gbit/s (H100) */ \
  X(hbm3, 2617, 16, 32, 1024,  36, 36, 36, 6, 84, 2, 9, 30, 9, 9, 0, 0)
// clang-format on

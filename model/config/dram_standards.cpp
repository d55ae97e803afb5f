// SPDX-License-Identifier: MIT
// The rows of constraints; each standard's levels, commands and figures; the figures of presets. A figure is of the
// device or table that its source names; "recalled" is from memory and "chosen" has no source. Neither code nor text of
// other simulators is used, only figures.
#include "heddle/config/dram_standard.h"

#include <iterator>

#include "heddle/config/error.h"

namespace heddle {

namespace {

using t = dram_time;
using level = dram_level;
using cmd = dram_command;

constexpr dram_formula write_to_precharge = t::cwl + t::bl + t::wr;

constexpr dram_constraint in_a_bank[] = {
    {level::bank, cmd::act, cmd::rd, t::rcd},
    {level::bank, cmd::act, cmd::wr, t::rcd},
    {level::bank, cmd::act, cmd::pre, t::ras},
    {level::bank, cmd::act, cmd::act, t::rc},
    {level::bank, cmd::rd, cmd::pre, t::rtp},
    {level::bank, cmd::wr, cmd::pre, write_to_precharge},
    {level::bank, cmd::pre, cmd::act, t::rp},
    {level::bank, cmd::rda, cmd::act, t::rtp + t::rp},
    {level::bank, cmd::wra, cmd::act, write_to_precharge + t::rp},
};

// Of HBM, a pseudo-channel's; of others, the channel's. Data never overlap, whatever tCCD says.
constexpr dram_constraint on_the_data_bus[] = {
    {level::pseudo_channel, cmd::rd, cmd::rd, t::ccd_s},
    {level::pseudo_channel, cmd::rd, cmd::rd, t::bl},
    {level::pseudo_channel, cmd::wr, cmd::wr, t::ccd_s},
    {level::pseudo_channel, cmd::wr, cmd::wr, t::bl},
    {level::pseudo_channel, cmd::rd, cmd::wr, t::ccd_s},
    {level::pseudo_channel, cmd::rd, cmd::wr, t::bl},
    {level::pseudo_channel, cmd::rd, cmd::wr, t::cl + t::bl + t::rtw - t::cwl},
};

constexpr dram_constraint in_a_rank[] = {
    {level::rank, cmd::wr, cmd::rd, t::cwl + t::bl + t::wtr_s},
    {level::rank, cmd::act, cmd::act, t::rrd_s},
    {level::rank, cmd::act, cmd::act, t::faw, 4},
};

constexpr dram_constraint in_a_bank_group[] = {
    {level::bank_group, cmd::rd, cmd::rd, t::ccd_l},
    {level::bank_group, cmd::wr, cmd::wr, t::ccd_l},
    {level::bank_group, cmd::wr, cmd::rd, t::cwl + t::bl + t::wtr_l},
    {level::bank_group, cmd::act, cmd::act, t::rrd_l},
};

constexpr dram_constraint between_ranks[] = {
    {level::rank, cmd::rd, cmd::rd, t::bl + t::cs, 1, true},
    {level::rank, cmd::wr, cmd::wr, t::bl + t::cs, 1, true},
    {level::rank, cmd::rd, cmd::wr, t::cl + t::bl + t::cs - t::cwl, 1, true},
    {level::rank, cmd::wr, cmd::rd, t::cwl + t::bl + t::cs - t::cl, 1, true},
};

constexpr dram_constraint of_all_bank_refresh[] = {
    {level::rank, cmd::act, cmd::prea, t::ras},
    {level::rank, cmd::rd, cmd::prea, t::rtp},
    {level::rank, cmd::wr, cmd::prea, write_to_precharge},
    {level::rank, cmd::prea, cmd::act, t::rp},
    {level::rank, cmd::prea, cmd::refab, t::rp},
    {level::rank, cmd::pre, cmd::refab, t::rp},
    {level::rank, cmd::rda, cmd::refab, t::rtp + t::rp},
    {level::rank, cmd::wra, cmd::refab, write_to_precharge + t::rp},
    {level::rank, cmd::refab, cmd::act, t::rfc},
    {level::rank, cmd::refab, cmd::refab, t::rfc},
};

// Between refreshes of two banks, and between one and an activate of another bank, as between two activates.
constexpr dram_constraint of_single_bank_refresh[] = {
    {level::bank, cmd::pre, cmd::refpb, t::rp},
    {level::bank, cmd::rda, cmd::refpb, t::rtp + t::rp},
    {level::bank, cmd::wra, cmd::refpb, write_to_precharge + t::rp},
    {level::bank, cmd::refpb, cmd::act, t::rfc_pb},
    {level::bank, cmd::refpb, cmd::refpb, t::rfc_pb},
    {level::rank, cmd::refpb, cmd::refab, t::rfc_pb},
    {level::rank, cmd::refpb, cmd::refpb, t::rrd_s},
    {level::rank, cmd::refpb, cmd::act, t::rrd_s},
    {level::rank, cmd::act, cmd::refpb, t::rrd_s},
    {level::rank, cmd::refab, cmd::refpb, t::rfc},
    {level::rank, cmd::prea, cmd::refpb, t::rp},
};

template <std::size_t n>
constexpr dram_constraint_rows rows_of(const dram_constraint (&rows)[n]) {
  return {rows, rows + n};
}
using row_sets = std::array<dram_constraint_rows, 7>;
constexpr row_sets rank_standard = {rows_of(in_a_bank),       rows_of(on_the_data_bus), rows_of(in_a_rank),
                                    rows_of(in_a_bank_group), rows_of(between_ranks),   rows_of(of_all_bank_refresh)};
constexpr row_sets graphics_standard = {rows_of(in_a_bank),           rows_of(on_the_data_bus),
                                        rows_of(in_a_rank),           rows_of(in_a_bank_group),
                                        rows_of(of_all_bank_refresh), rows_of(of_single_bank_refresh)};
constexpr row_sets all_rows = {rows_of(in_a_bank),
                               rows_of(on_the_data_bus),
                               rows_of(in_a_rank),
                               rows_of(in_a_bank_group),
                               rows_of(between_ranks),
                               rows_of(of_all_bank_refresh),
                               rows_of(of_single_bank_refresh)};

// channel, pseudo-channel, rank, bank group, bank, row, column
constexpr std::array<bool, 7> all_levels = {true, true, true, true, true, true, true};
constexpr std::array<bool, 7> rank_levels = {true, false, true, true, true, true, true};
constexpr std::array<bool, 7> flat_levels = {true, false, false, true, true, true, true};
constexpr std::array<bool, 7> hbm_levels = {true, true, false, true, true, true, true};
constexpr std::array<bool, dram_commands> all_commands = {true, true, true, true, true, true, true, true, true};
constexpr std::array<bool, dram_commands> no_single_bank = {true, true, true, true, true, true, true, true, false};

// DDR4-3200, 64 pins
constexpr dram_figure ddr4[] = {
    {t::cl, 22, "DRAMsim3, DDR4_8Gb_x8_3200"},       {t::cwl, 16, "DRAMsim3, DDR4_8Gb_x8_3200"},
    {t::rcd, 22, "DRAMsim3, DDR4_8Gb_x8_3200"},      {t::rp, 22, "DRAMsim3, DDR4_8Gb_x8_3200"},
    {t::ras, 52, "DRAMsim3, DDR4_8Gb_x8_3200"},      {t::rc, 74, "DRAMsim3, DDR4_8Gb_x8_3200: tRAS + tRP"},
    {t::ccd_s, 4, "DRAMsim3, DDR4_8Gb_x8_3200"},     {t::ccd_l, 8, "DRAMsim3, DDR4_8Gb_x8_3200"},
    {t::rrd_s, 4, "DRAMsim3, DDR4_8Gb_x8_3200"},     {t::rrd_l, 8, "DRAMsim3, DDR4_8Gb_x8_3200"},
    {t::faw, 34, "DRAMsim3, DDR4_8Gb_x8_3200"},      {t::wr, 24, "DRAMsim3, DDR4_8Gb_x8_3200"},
    {t::wtr_s, 4, "DRAMsim3, DDR4_8Gb_x8_3200"},     {t::wtr_l, 12, "DRAMsim3, DDR4_8Gb_x8_3200"},
    {t::rtp, 12, "DRAMsim3, DDR4_8Gb_x8_3200"},      {t::rtw, 2, "recalled: JESD79-4, two clocks of preamble"},
    {t::cs, 1, "DRAMsim3, DDR4_8Gb_x8_3200: tRTRS"}, {t::refi, 12480, "DRAMsim3, DDR4_8Gb_x8_3200"},
    {t::rfc, 560, "DRAMsim3, DDR4_8Gb_x8_3200"},     {t::rfc_pb, 0, "no such command"},
};
// DDR5-3200, a subchannel of 32 pins
constexpr dram_figure ddr5[] = {
    {t::cl, 24, "Ramulator 2, DDR5_3200AN"},
    {t::cwl, 22, "Ramulator 2, DDR5_3200AN"},
    {t::rcd, 24, "Ramulator 2, DDR5_3200AN"},
    {t::rp, 24, "Ramulator 2, DDR5_3200AN"},
    {t::ras, 52, "Ramulator 2, DDR5_3200AN"},
    {t::rc, 75, "Ramulator 2, DDR5_3200AN"},
    {t::ccd_s, 8, "Ramulator 2, DDR5_3200AN"},
    {t::ccd_l, 8, "Ramulator 2, DDR5_3200AN; between writes JESD79-5 asks for 16, which is not distinguished"},
    {t::rrd_s, 8, "Ramulator 2, DDR5_3200AN"},
    {t::rrd_l, 8, "recalled: JESD79-5, 5 ns or 8 clocks"},
    {t::faw, 32, "Ramulator 2, DDR5_3200AN"},
    {t::wr, 48, "Ramulator 2, DDR5_3200AN"},
    {t::wtr_s, 4, "Ramulator 2, DDR5_3200AN: nCCDS_WTR less nCWL and nBL"},
    {t::wtr_l, 16, "Ramulator 2, DDR5_3200AN: nCCDL_WTR less nCWL and nBL"},
    {t::rtp, 12, "Ramulator 2, DDR5_3200AN"},
    {t::rtw, 2, "recalled: JESD79-5, two clocks of preamble"},
    {t::cs, 2, "Ramulator 2, DDR5_3200AN: nCS"},
    {t::refi, 6240, "Ramulator 2, DDR5_3200AN: 3900 ns"},
    {t::rfc, 472, "Ramulator 2, DDR5_3200AN: 295 ns, 16 Gb"},
    {t::rfc_pb, 0, "no such command; refresh of the same bank in all groups is not modelled"},
};
// GDDR5, 32 pins of 8 Gbit/s
constexpr dram_figure gddr5[] = {
    {t::cl, 24, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::cwl, 7, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::rcd, 24, "DRAMsim3, GDDR5_8Gb_x32: of reads; 20 of writes is not distinguished"},
    {t::rp, 24, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::ras, 56, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::rc, 80, "DRAMsim3, GDDR5_8Gb_x32: tRAS + tRP"},
    {t::ccd_s, 2, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::ccd_l, 3, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::rrd_s, 10, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::rrd_l, 10, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::faw, 40, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::wr, 24, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::wtr_s, 10, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::wtr_l, 10, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::rtp, 2, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::rtw, 1, "chosen: one idle cycle of the data bus"},
    {t::cs, 0, "no ranks"},
    {t::refi, 3800, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::rfc, 74, "DRAMsim3, GDDR5_8Gb_x32"},
    {t::rfc_pb, 30, "DRAMsim3, GDDR5_8Gb_x32: tRFCb"},
};
// GDDR5X, 32 pins of 12 Gbit/s
constexpr dram_figure gddr5x[] = {
    {t::cl, 24, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::cwl, 7, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::rcd, 24, "DRAMsim3, GDDR5X_8Gb_x32: of reads; 20 of writes is not distinguished"},
    {t::rp, 24, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::ras, 56, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::rc, 80, "DRAMsim3, GDDR5X_8Gb_x32: tRAS + tRP"},
    {t::ccd_s, 2, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::ccd_l, 3, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::rrd_s, 10, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::rrd_l, 10, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::faw, 40, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::wr, 24, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::wtr_s, 10, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::wtr_l, 10, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::rtp, 2, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::rtw, 1, "chosen: one idle cycle of the data bus"},
    {t::cs, 0, "no ranks"},
    {t::refi, 3800, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::rfc, 74, "DRAMsim3, GDDR5X_8Gb_x32"},
    {t::rfc_pb, 30, "DRAMsim3, GDDR5X_8Gb_x32: tRFCb"},
};
// GDDR6, a channel of 16 pins, 14 Gbit/s
constexpr dram_figure gddr6[] = {
    {t::cl, 24, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::cwl, 6, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::rcd, 26, "Ramulator 2, GDDR6_2000_1350mV_quad: of reads; 16 of writes is not distinguished"},
    {t::rp, 26, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::ras, 53, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::rc, 79, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::ccd_s, 2, "recalled: JESD250, a burst's data at this clock"},
    {t::ccd_l, 3, "recalled: JESD250; 3/2 of tCCDS, as Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::rrd_s, 7, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::rrd_l, 7, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::faw, 28, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::wr, 26, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::wtr_s, 9, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::wtr_l, 11, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::rtp, 4, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::rtw, 1, "chosen: one idle cycle of the data bus"},
    {t::cs, 0, "no ranks"},
    {t::refi, 3333, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::rfc, 210, "Ramulator 2, GDDR6_2000_1350mV_quad"},
    {t::rfc_pb, 105, "Ramulator 2, GDDR6_2000_1350mV_quad"},
};
// GDDR6X, a channel of 16 pins, 19 Gbit/s: its other times are chosen as those of GDDR6
constexpr dram_figure gddr6x[] = {
    {t::ccd_s, 2, "recalled: JESD250, a burst's data at this clock"},
    {t::ccd_l, 4, "chosen: clocks between GDDR6's 3 and its time"},
    {t::rtw, 1, "chosen: one idle cycle of the data bus"},
};
// HBM2, a pseudo-channel of 64 pins, 2 Gbit/s
constexpr dram_figure hbm2[] = {
    {t::cl, 14, "DRAMsim3, HBM2_8Gb_x128"},
    {t::cwl, 4, "DRAMsim3, HBM2_8Gb_x128"},
    {t::rcd, 14, "DRAMsim3, HBM2_8Gb_x128"},
    {t::rp, 14, "DRAMsim3, HBM2_8Gb_x128"},
    {t::ras, 34, "DRAMsim3, HBM2_8Gb_x128"},
    {t::rc, 48, "DRAMsim3, HBM2_8Gb_x128: tRAS + tRP"},
    {t::ccd_s, 2, "a pseudo-channel's burst of 4 x 64 bits"},
    {t::ccd_l, 4, "twice tCCDS, as DRAMsim3, HBM2_8Gb_x128 and Accel-Sim's V100"},
    {t::rrd_s, 4, "DRAMsim3, HBM2_8Gb_x128"},
    {t::rrd_l, 6, "DRAMsim3, HBM2_8Gb_x128"},
    {t::faw, 30, "DRAMsim3, HBM2_8Gb_x128"},
    {t::wr, 16, "DRAMsim3, HBM2_8Gb_x128"},
    {t::wtr_s, 6, "DRAMsim3, HBM2_8Gb_x128"},
    {t::wtr_l, 8, "DRAMsim3, HBM2_8Gb_x128"},
    {t::rtp, 6, "DRAMsim3, HBM2_8Gb_x128: tRTP_L"},
    {t::rtw, 1, "chosen: one idle cycle of the data bus"},
    {t::cs, 0, "no ranks"},
    {t::refi, 3900, "DRAMsim3, HBM2_8Gb_x128"},
    {t::rfc, 260, "DRAMsim3, HBM2_8Gb_x128"},
    {t::rfc_pb, 160, "recalled: JESD235, refresh of a single bank"},
};
// HBM2E, a pseudo-channel of 64 pins, 3.2 Gbit/s: its other times are chosen as those of HBM2
constexpr dram_figure hbm2e[] = {
    {t::rc, 78, "tRAS + tRP"},
    {t::ccd_s, 2, "a pseudo-channel's burst of 4 x 64 bits"},
    {t::ccd_l, 4, "twice tCCDS, as HBM2"},
    {t::rtw, 1, "chosen: one idle cycle of the data bus"},
};
// HBM3, a pseudo-channel of 32 pins, 5.2 Gbit/s: its other times are chosen as those of HBM2
constexpr dram_figure hbm3[] = {
    {t::rc, 64, "tRAS + tRP"},
    {t::ccd_s, 2, "a pseudo-channel's burst of 4 x 64 bits"},
    {t::ccd_l, 4, "twice tCCDS, as HBM2"},
    {t::rtw, 1, "chosen: one idle cycle of the data bus"},
};
// clang-format off
// Memories that standards at other speeds refer to.
constexpr dram_memory gddr6_memory = {
    "gddr6", "GDDR6, a channel of 16 pins, 14 Gbit/s", 1750, 16, 32, 4, 16, 2048,
    "Micron, MT61K256M32 (8 Gb GDDR6), table 3: 256 bits a burst, pages of 2 KB; Ramulator 2, GDDR6_2000_1350mV_quad",
    std::begin(gddr6), std::end(gddr6), nullptr};
constexpr dram_memory hbm2_memory = {"hbm2", "HBM2, a pseudo-channel of 64 pins, 2 Gbit/s", 1000, 16, 32, 4, 16, 1024,
                                     "Ramulator 2, HBM2_4Gb; a burst is 4 x 64 bits", std::begin(hbm2), std::end(hbm2),
                                     nullptr};

// The names of `dram.standard`, in this order.
constexpr dram_standard standards[] = {
    {{"generic", "what the parameters say", 0, 0, 0, 1, 0, 0, "", nullptr, nullptr, nullptr}, all_levels, all_commands,
     all_rows},
    {{"ddr4", "DDR4-3200, 64 pins", 1600, 16, 64, 4, 16, 8192,
      "DRAMsim3, DDR4_8Gb_x8_3200: eight devices of 1 KiB pages; a burst is 8 x 64 bits", std::begin(ddr4),
      std::end(ddr4), nullptr}, rank_levels, no_single_bank, rank_standard},
    {{"ddr5", "DDR5-3200, a subchannel of 32 pins", 1600, 8, 64, 8, 32, 4096,
      "Ramulator 2, DDR5_16Gb_x8: four devices of 1 KiB pages; a burst is 16 x 32 bits", std::begin(ddr5),
      std::end(ddr5), nullptr}, rank_levels, no_single_bank, rank_standard},
    {{"gddr5", "GDDR5, 32 pins of 8 Gbit/s", 2000, 16, 32, 4, 16, 2048,
      "DRAMsim3, GDDR5_8Gb_x32; page: Ramulator, GDDR5 x32 up to 4 Gb; a burst is 8 x 32 bits", std::begin(gddr5),
      std::end(gddr5), nullptr}, flat_levels, all_commands, graphics_standard},
    {{"gddr5x", "GDDR5X, 32 pins of 12 Gbit/s", 1500, 32, 64, 4, 16, 2048,
      "DRAMsim3, GDDR5X_8Gb_x32; page recalled; a burst is 16 x 32 bits", std::begin(gddr5x), std::end(gddr5x),
      nullptr},
      flat_levels, all_commands, graphics_standard},
    {gddr6_memory, flat_levels, all_commands, graphics_standard},
    {{"gddr6x", "GDDR6X, a channel of 16 pins, 19 Gbit/s", 2375, 16, 32, 4, 16, 2048,
      "recalled: as GDDR6; no public standard", std::begin(gddr6x), std::end(gddr6x), &gddr6_memory}, flat_levels,
      all_commands, graphics_standard},
    {hbm2_memory, hbm_levels, all_commands, graphics_standard},
    {{"hbm2e", "HBM2E, a pseudo-channel of 64 pins, 3.2 Gbit/s", 1600, 16, 32, 4, 16, 1024,
      "as HBM2, at the clock of 3.2 Gbit/s a pin", std::begin(hbm2e), std::end(hbm2e), &hbm2_memory}, hbm_levels,
      all_commands, graphics_standard},
    {{"hbm3", "HBM3, a pseudo-channel of 32 pins, 5.2 Gbit/s", 1300, 16, 32, 4, 16, 1024,
      "Ramulator 2, HBM3_4Gb; recalled: JESD238, a burst is 8 x 32 bits and a clock four of them", std::begin(hbm3),
      std::end(hbm3), &hbm2_memory}, hbm_levels, all_commands, graphics_standard},
};

// Presets: the memory of shipped GPUs, whose configurations name the sources of their figures, without bank groups.
using preset_figures = std::array<dram_figure, 14>;
constexpr preset_figures figures_of_preset(const char* source, unsigned rcd, unsigned rp, unsigned cl, unsigned cwl,
                                           unsigned ras, unsigned ccd, unsigned rrd, unsigned wr, unsigned rtp,
                                           unsigned wtr, unsigned refi, unsigned rfc,
                                           unsigned rfc_pb = 0) {
  return {{{t::rcd, rcd, source}, {t::rp, rp, source}, {t::cl, cl, source}, {t::cwl, cwl, source},
           {t::ras, ras, source}, {t::ccd_s, ccd, source}, {t::rrd_s, rrd, source}, {t::wr, wr, source},
           {t::rtp, rtp, source}, {t::wtr_s, wtr, source}, {t::refi, refi, source}, {t::rfc, rfc, source},
           {t::rtw, 1, "chosen: one idle cycle of the data bus"}, {t::rfc_pb, rfc_pb, source}}};
}
constexpr preset_figures gddr5_preset =
    figures_of_preset("configs/gtx980.ini", 16, 16, 16, 6, 37, 2, 8, 18, 3, 8, 0, 0);
constexpr preset_figures gddr5x_preset =
    figures_of_preset("configs/gtx1080.ini", 16, 16, 16, 6, 37, 1, 8, 16, 3, 7, 0, 0);
constexpr preset_figures gddr6_preset =
    figures_of_preset("configs/rtx2060.ini", 12, 12, 12, 4, 28, 2, 6, 12, 2, 5, 0, 0);
constexpr preset_figures gddr6x_preset =
    figures_of_preset("configs/rtx3080.ini", 16, 16, 16, 5, 38, 2, 8, 16, 3, 7, 0, 0);
constexpr preset_figures hbm2_preset =
    figures_of_preset("configs/v100.ini", 12, 12, 12, 2, 28, 2, 3, 10, 3, 3, 3420, 228);
constexpr preset_figures hbm2e_preset =
    figures_of_preset("the times of configs/a100.ini at this clock", 24, 24, 24, 5, 53, 2, 8, 21, 8, 5, 0, 0);
constexpr preset_figures hbm3_preset =
    figures_of_preset("configs/h100.ini", 36, 36, 36, 6, 84, 2, 9, 30, 9, 9, 7700, 0, 594);

// The names of `dram.preset`, in this order.
constexpr dram_memory presets[] = {
    {"none", "what the parameters say", 0, 0, 0, 1, 0, 0, "", nullptr, nullptr, nullptr},
    {"gddr5", "GDDR5, 32 pins of 7 Gbit/s (GTX 980)", 1753, 16, 32, 1, 16, 2048, "configs/gtx980.ini",
     &gddr5_preset.front(), &gddr5_preset.back() + 1, nullptr},
    {"gddr5x", "GDDR5X, 32 pins of 10 Gbit/s (GTX 1080)", 1251, 32, 32, 1, 16, 2048, "configs/gtx1080.ini",
     &gddr5x_preset.front(), &gddr5x_preset.back() + 1, nullptr},
    {"gddr6", "GDDR6, 16 pins of 14 Gbit/s (RTX 2060)", 1750, 16, 32, 1, 16, 2048, "configs/rtx2060.ini",
     &gddr6_preset.front(), &gddr6_preset.back() + 1, nullptr},
    {"gddr6x", "GDDR6X, 16 pins of 19 Gbit/s (RTX 3080)", 2375, 16, 32, 1, 16, 2048, "configs/rtx3080.ini",
     &gddr6x_preset.front(), &gddr6x_preset.back() + 1, nullptr},
    {"hbm2", "HBM2, a pseudo-channel of 64 pins, 1.75 Gbit/s (V100)", 877, 16, 32, 1, 16, 1024, "configs/v100.ini",
     &hbm2_preset.front(), &hbm2_preset.back() + 1, nullptr},
    {"hbm2e", "HBM2E, 64 pins, 3.19 Gbit/s (A100 of 80 GB: 80 channels reach its 2039 GB/s)",
     1593, 16, 32, 1, 16, 1024, "the times of configs/a100.ini at this clock",
     &hbm2e_preset.front(), &hbm2e_preset.back() + 1, nullptr},
    {"hbm3", "HBM3, two pseudo-channels of 32 pins as one, each of two ranks of 16 banks, 5.2 Gbit/s (H100)",
     2617, 16, 32, 1, 64, 1024, "configs/h100.ini",
     &hbm3_preset.front(), &hbm3_preset.back() + 1, nullptr},
};
// clang-format on

}  // namespace

const dram_standard& standard_of(choice::dram_standard wanted) {
  const auto row = static_cast<std::size_t>(wanted);
  if (row >= std::size(standards)) throw internal_error("unknown DRAM standard");
  return standards[row];
}

const dram_memory& preset_of(choice::dram_preset wanted) {
  const auto row = static_cast<std::size_t>(wanted);
  if (row >= std::size(presets)) throw internal_error("unknown DRAM preset");
  return presets[row];
}

std::string choice::words_of(dram_preset) {
  std::string words;
  for (const dram_memory& m : presets) words += std::string(m.name) + ",";
  return words;
}

std::string choice::words_of(dram_standard) {
  std::string words;
  for (const heddle::dram_standard& s : standards) words += std::string(s.memory.name) + ",";
  return words;
}

}  // namespace heddle

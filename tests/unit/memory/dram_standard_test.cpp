// SPDX-License-Identifier: MIT
// The rows of the DRAM standards: each by hand, and all of them by a checker that replays random traffic.
#include "heddle/config/dram_standard.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "dram_checker.h"
#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/parameter_table.h"
#include "heddle/memory/dram/dram_channel.h"
#include "memory_bench.h"

namespace heddle::test {
namespace dram_standard_test {

using cmd = dram_command;

/// Every enumerator of a choice parameter.
template <class E>
std::vector<E> all_of(const char* parameter) {
  std::vector<E> all;
  for (std::size_t k = 0; k < find_parameter(parameter)->choices.size(); ++k) all.push_back(static_cast<E>(k));
  return all;
}

/// But generic, which has no figures.
std::vector<std::string> all_standards() {
  std::vector<std::string> names = find_parameter("dram.standard")->choices;
  names.erase(std::find(names.begin(), names.end(), "generic"));
  return names;
}

dram_parameters standard(const std::string& name) {
  gpu_config c;
  EXPECT_EQ(set_text(c, *find_parameter("dram.standard"), name), "");
  return c.dram;
}

// Two ranks of two groups of two banks; no two sums are alike. Bank b is of group b % 2 and rank b / 2 % 2.
dram_parameters by_hand() {
  dram_parameters p;
  p.ranks = 2;
  p.bank_groups = 2;
  p.banks = 8;
  p.bytes_per_cycle = 8;
  p.burst_bytes = 32;  // 4 data cycles
  p.t_cl_cycles = 50;
  p.t_wl_cycles = 20;
  p.t_rcd_cycles = 11;
  p.t_rp_cycles = 13;
  p.t_ras_cycles = 40;
  p.t_rc_cycles = 61;
  p.t_ccd_cycles = 5;
  p.t_ccd_l_cycles = 9;
  p.t_rrd_cycles = 6;
  p.t_rrd_l_cycles = 10;
  p.t_faw_cycles = 300;
  p.t_wr_cycles = 17;
  p.t_wtr_cycles = 7;
  p.t_wtr_l_cycles = 19;
  p.t_rtp_cycles = 3;
  p.t_rtw_cycles = 2;
  p.t_cs_cycles = 8;
  p.t_rfc_cycles = 500;
  p.t_rfc_pb_cycles = 200;
  return p;
}
constexpr unsigned here = 0, same_bank = 0, same_group = 4, same_rank = 1, other_rank = 2;

// What a command of bank 0 in cycle 1000 allows when.
struct bound {
  cmd before, after;
  unsigned bank;
  cycle_t cycles;  // 0: at once
};
const bound bounds[] = {
    {cmd::act, cmd::rd, same_bank, 11},
    {cmd::act, cmd::wr, same_bank, 11},
    {cmd::act, cmd::rd, same_group, 0},
    {cmd::act, cmd::pre, same_bank, 40},
    {cmd::act, cmd::pre, same_group, 0},
    {cmd::act, cmd::act, same_bank, 61},
    {cmd::act, cmd::act, same_group, 10},
    {cmd::act, cmd::act, same_rank, 6},
    {cmd::act, cmd::act, other_rank, 0},
    {cmd::act, cmd::refpb, same_rank, 6},
    {cmd::pre, cmd::act, same_bank, 13},
    {cmd::pre, cmd::act, same_group, 0},
    {cmd::pre, cmd::refpb, same_bank, 13},
    {cmd::pre, cmd::refab, same_rank, 13},
    {cmd::rd, cmd::pre, same_bank, 3},
    {cmd::rd, cmd::rd, same_bank, 9},
    {cmd::rd, cmd::rd, same_group, 9},
    {cmd::rd, cmd::rd, same_rank, 5},
    {cmd::rd, cmd::rd, other_rank, 4 + 8},
    {cmd::rd, cmd::wr, same_rank, 50 + 4 + 2 - 20},
    {cmd::rd, cmd::wr, other_rank, 50 + 4 + 8 - 20},
    {cmd::rda, cmd::rd, same_group, 9},
    {cmd::rda, cmd::act, same_bank, 3 + 13},
    {cmd::rda, cmd::refab, same_rank, 3 + 13},
    {cmd::wr, cmd::pre, same_bank, 20 + 4 + 17},
    {cmd::wr, cmd::wr, same_group, 9},
    {cmd::wr, cmd::wr, same_rank, 5},
    {cmd::wr, cmd::wr, other_rank, 4 + 8},
    {cmd::wr, cmd::rd, same_group, 20 + 4 + 19},
    {cmd::wr, cmd::rd, same_rank, 20 + 4 + 7},
    {cmd::wr, cmd::rd, other_rank, 0},  // 20 + 4 + 8 - 50 is negative
    {cmd::wra, cmd::act, same_bank, 20 + 4 + 17 + 13},
    {cmd::wra, cmd::refpb, same_bank, 20 + 4 + 17 + 13},
    {cmd::prea, cmd::act, same_rank, 13},
    {cmd::prea, cmd::refab, other_rank, 13},
    {cmd::refab, cmd::act, same_bank, 500},
    {cmd::refab, cmd::act, other_rank, 500},
    {cmd::refab, cmd::refpb, same_rank, 500},
    {cmd::refpb, cmd::refpb, same_bank, 200},
    {cmd::refpb, cmd::refpb, same_rank, 6},
    {cmd::refpb, cmd::refpb, other_rank, 0},
    {cmd::refpb, cmd::act, same_bank, 200},
    {cmd::refpb, cmd::act, same_rank, 6},
    {cmd::refpb, cmd::act, other_rank, 0},
    {cmd::refpb, cmd::refab, same_rank, 200},
};

TEST(dram_standard, each_row_by_hand) {
  for (const bound& b : bounds) {
    dram_timing timing(by_hand());
    if (b.before == cmd::refpb) timing.reserve(here);
    timing.issue(b.before, here, 1000);
    EXPECT_EQ(timing.earliest(b.after, b.bank), b.cycles == 0 ? 0 : 1000 + b.cycles)
        << text_of(b.before) << " to " << text_of(b.after) << " of bank " << b.bank;
  }
}

TEST(dram_standard, a_fifth_activate_of_a_rank_waits_for_the_window) {
  dram_timing timing(by_hand());
  for (const cycle_t at : {1000, 1010, 1030, 1060}) {
    EXPECT_LE(timing.earliest(cmd::act, same_rank), at);
    timing.issue(cmd::act, at % 100 == 0 ? 0 : 4, at);
  }
  EXPECT_EQ(timing.earliest(cmd::act, same_rank), 1300u);
  EXPECT_EQ(timing.earliest(cmd::act, other_rank), 0u);
  timing.issue(cmd::act, same_rank, 1300);
  EXPECT_EQ(timing.earliest(cmd::act, same_group), 1310u) << "four since 1010";
}

TEST(dram_standard, a_reserved_bank_waits_for_its_refresh) {
  dram_timing timing(by_hand());
  timing.issue(cmd::act, here, 1000);
  timing.reserve(here);
  EXPECT_EQ(timing.earliest(cmd::act, here), never);
  timing.issue(cmd::pre, here, 1040);
  EXPECT_EQ(timing.earliest(cmd::act, here), never);
  EXPECT_EQ(timing.earliest(cmd::refpb, here), 1053u);
  timing.issue(cmd::refpb, here, 1053);
  EXPECT_EQ(timing.earliest(cmd::act, here), 1253u);
}

TEST(dram_standard, one_group_has_no_times_of_its_own) {
  dram_parameters p = by_hand();
  p.bank_groups = 1;
  dram_timing timing(p);
  timing.issue(cmd::rd, 0, 1000);
  EXPECT_EQ(timing.earliest(cmd::rd, 0), 1005u);
  timing.issue(cmd::act, 2, 1100);
  EXPECT_EQ(timing.earliest(cmd::act, 0), 1106u);
}

// A figure for every time but the data cycles of a burst, each with a source.
TEST(dram_standard, has_every_figure_with_its_source) {
  for (const std::string& name : all_standards()) {
    const dram_parameters p = standard(name);
    const dram_standard& s = standard_of(p.standard);
    std::set<dram_time> said;
    for (const dram_figure& f : figures_of(s.memory)) {
      said.insert(f.time);
      EXPECT_GT(std::string(f.source).size(), 5u) << name;
      EXPECT_EQ(times_of(p)[static_cast<unsigned>(f.time)], f.cycles) << name;
    }
    EXPECT_EQ(said.size(), dram_times - 1) << name;
    EXPECT_EQ(p.preset, choice::dram_preset::none) << name;
    EXPECT_LE(p.t_ccd_cycles * p.bytes_per_cycle, p.burst_bytes) << name << ": tCCD keeps it from its bandwidth";
    EXPECT_GE(p.t_rc_cycles, p.t_ras_cycles + p.t_rp_cycles - 1) << name;
    EXPECT_GE(p.t_ccd_l_cycles, p.t_ccd_cycles) << name;
    EXPECT_GE(p.t_rrd_l_cycles, p.t_rrd_cycles) << name;
    EXPECT_GE(p.t_wtr_l_cycles, p.t_wtr_cycles) << name;
    EXPECT_GE(p.t_faw_cycles, 3 * p.t_rrd_cycles) << name;
    EXPECT_EQ(s.has(cmd::refpb), p.t_rfc_pb_cycles != 0) << name;
    EXPECT_NE(std::string(s.memory.speed), "");
    EXPECT_NE(std::string(s.memory.source), "");
  }
}

// Bytes per second of one channel, from its pins and their rate.
TEST(dram_standard, has_the_bandwidth_of_its_pins) {
  const struct {
    const char* name;
    double pins, gigabits;
  } kinds[] = {{"ddr4", 64, 3.2},  {"ddr5", 32, 3.2}, {"gddr5", 32, 8},   {"gddr5x", 32, 12}, {"gddr6", 16, 14},
               {"gddr6x", 16, 19}, {"hbm2", 64, 2},   {"hbm2e", 64, 3.2}, {"hbm3", 32, 5.2}};
  for (const auto& k : kinds) {
    const dram_parameters p = standard(k.name);
    EXPECT_NEAR(p.clock_mhz * 1e6 * p.bytes_per_cycle, k.pins * k.gigabits * 1e9 / 8, 1e6) << k.name;
  }
}

TEST(dram_standard, sets_what_it_determines_and_single_values_may_follow) {
  const auto load = [](const std::vector<std::string>& all) { return load_config("v100", all).dram; };
  const dram_parameters p = load({"dram.standard=hbm2", "dram.t_faw_cycles=99"});
  EXPECT_EQ(p.t_faw_cycles, 99u);
  EXPECT_EQ(p.bank_groups, 4u);
  EXPECT_EQ(p.t_rcd_cycles, 14u);
  EXPECT_EQ(p.queue_entries, load({}).queue_entries) << "the controller is not the memory's";
  // A preset after it has no groups, and every time it had before there were standards.
  EXPECT_EQ(to_ini(load_config("v100", {"dram.standard=hbm2", "dram.preset=hbm2"})), to_ini(load_config("v100")));
  EXPECT_EQ(to_ini(load_config("v100", {"dram.standard=generic"})), to_ini(load_config("v100")));
}

TEST(dram_standard, what_it_does_not_have_is_refused_in_a_line) {
  const auto refusal = [](const std::vector<std::string>& all) -> std::string {
    try {
      load_config("v100", all);
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  const std::pair<std::vector<std::string>, const char*> bad[] = {
      {{"dram.standard=gddr7"}, "expected generic, ddr4"},
      {{"dram.scheduler=frfcfs"}, "expected fr_fcfs, fcfs"},
      {{"dram.row_policy=half"}, "expected open, closed, timeout"},
      {{"dram.refresh=bank"}, "expected none, all_bank, per_bank"},
      {{"dram.bank_groups=3"}, "expected a power of two"},
      {{"dram.bank_groups=32"}, "expected dram.banks to be a multiple of dram.ranks x dram.bank_groups"},
      {{"dram.standard=gddr6", "dram.ranks=2"}, "a channel of this standard has no ranks"},
      {{"dram.standard=ddr4", "dram.refresh=per_bank"}, "the standard has no refresh of a single bank"},
      {{"dram.refresh=per_bank", "dram.t_refi_cycles=9", "dram.t_rfc_cycles=1"}, "at least dram.banks"},
      {{"dram.refresh=per_bank", "dram.t_rfc_pb_cycles=3420"}, "expected dram.t_rfc_pb_cycles to be less"},
  };
  for (const auto& [settings, expected] : bad) {
    const std::string message = refusal(settings);
    EXPECT_NE(message.find(expected), std::string::npos) << settings.back() << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.find("--set "), 0u) << message;
  }
  EXPECT_EQ(refusal({"dram.standard=ddr4", "dram.ranks=2"}), "");
  EXPECT_EQ(refusal({"dram.standard=hbm2", "dram.refresh=per_bank"}), "");
}

class dram_replay : public simulation {
 protected:
  /// Random requests to the channel of `built`, judged by the standard and times of `judged`.
  std::map<std::string, unsigned> violations(const gpu_config& built, const dram_parameters& judged,
                                             unsigned requests = 3000) {
    SetUp();  // another simulation
    clock_domain clock{"clock", 1000};
    driver slice{"slice", clock};
    dram_channel memory("memory", clock, built, 0);
    slice.socket.bind(memory.request_sockets[0]);
    dram_checker checker(judged);
    memory.watch(checker);
    std::mt19937_64 random(11);
    cycle_t when = 1;
    const std::uint64_t lines = std::uint64_t{built.dram.banks} * built.dram.row_bytes * 3 / 128;
    std::uint64_t line = 0;
    for (unsigned i = 0; i < requests; ++i) {
      // Bursts of traffic to neighbouring lines and to scattered ones, and pauses in which refreshes are missed.
      when += random() % 4 != 0 ? 0 : random() % 200 == 0 ? 20000 : random() % 30;
      line = random() % 3 == 0 ? random() % lines : (line + 1) % lines;
      if (random() % 3 == 0) slice.write(line * 128, 0, std::vector<std::uint8_t>(32 + random() % 97, 1), when, i);
      else slice.read(line * 128, static_cast<std::uint8_t>(1 + random() % 15), when, i);
    }
    sc_core::sc_start(clock.time_of(when + 2000000) - sc_core::sc_time_stamp());
    EXPECT_EQ(slice.records.size(), requests);
    EXPECT_TRUE(memory.idle());
    memory.check_invariants();
    commands_ = checker.log.size();
    refreshes_ = memory.refreshes();
    EXPECT_GT(checker.count(cmd::act), 100u);
    auto found = checker.violations();
    TearDown();
    return found;
  }
  static gpu_config channel(const dram_parameters& p) {
    gpu_config c;
    c.memory.channels = 1;
    c.dram = p;
    c.dram.queue_entries = 32;
    c.dram.controller_latency_cycles = 10;
    return c;
  }
  std::size_t commands_ = 0;
  std::uint64_t refreshes_ = 0;
};

TEST_F(dram_replay, random_traffic_keeps_every_row_of_every_standard) {
  TearDown();
  for (const std::string& name : all_standards())
    for (const auto scheduler : all_of<choice::dram_scheduler>("dram.scheduler"))
      for (const auto rows : all_of<choice::row_policy>("dram.row_policy"))
        for (const auto refresh : all_of<choice::refresh>("dram.refresh")) {
          dram_parameters p = standard(name);
          if (refresh == choice::refresh::per_bank && !standard_of(p.standard).has(cmd::refpb)) continue;
          if (standard_of(p.standard).has(dram_level::rank)) p.ranks = 2;
          p.scheduler = scheduler;
          p.row_policy = rows;
          p.row_timeout_cycles = 60;
          p.refresh = refresh;
          const auto found = violations(channel(p), p, 1000);
          for (const auto& [what, times] : found)
            ADD_FAILURE() << name << " scheduler " << int(scheduler) << " rows " << int(rows) << " refresh "
                          << int(refresh) << ": " << what << ", " << times << " times";
          EXPECT_EQ(refreshes_ != 0, refresh != choice::refresh::none) << name;
        }
  SetUp();
}

// A channel whose table lacks a row, or has one of fewer cycles, is found.
TEST_F(dram_replay, a_broken_table_is_found) {
  TearDown();
  dram_parameters right = by_hand();
  right.t_faw_cycles = 120;
  right.t_refi_cycles = 4000;
  right.t_rc_cycles = 80;
  right.row_bytes = 512;
  right.row_policy = choice::row_policy::open;
  for (const choice::refresh refresh : {choice::refresh::all_bank, choice::refresh::per_bank}) {
    right.refresh = refresh;
    for (const auto& [what, times] : violations(channel(right), right)) ADD_FAILURE() << what << ", " << times;
    for (unsigned dram_parameters::*time :
         {&dram_parameters::t_rcd_cycles, &dram_parameters::t_rp_cycles, &dram_parameters::t_ras_cycles,
          &dram_parameters::t_rc_cycles, &dram_parameters::t_ccd_cycles, &dram_parameters::t_ccd_l_cycles,
          &dram_parameters::t_rrd_cycles, &dram_parameters::t_rrd_l_cycles, &dram_parameters::t_faw_cycles,
          &dram_parameters::t_wr_cycles, &dram_parameters::t_wtr_cycles, &dram_parameters::t_wtr_l_cycles,
          &dram_parameters::t_rtp_cycles, &dram_parameters::t_rtw_cycles, &dram_parameters::t_cs_cycles}) {
      dram_parameters broken = right;
      broken.*time -= 1;
      EXPECT_FALSE(violations(channel(broken), right).empty()) << "a time of " << right.*time << " cycles";
    }
    dram_parameters broken = right;
    (refresh == choice::refresh::all_bank ? broken.t_rfc_cycles : broken.t_rfc_pb_cycles) -= 1;
    EXPECT_FALSE(violations(channel(broken), right).empty()) << "tRFC";
  }
  SetUp();
}

}  // namespace dram_standard_test
}  // namespace heddle::test

// SPDX-License-Identifier: MIT
// Schedulers, row policies and refresh of a DRAM channel, by hand-computed cycles.
#include "dram_checker.h"
#include "dram_timing.h"
#include "heddle/memory/dram/dram_channel.h"
#include "memory_bench.h"

namespace heddle::test {
namespace dram_policies_test {

using cmd = dram_command;

struct bench {
  clock_domain clock{"clock", 1000};
  driver slice{"slice", clock};
  dram_channel memory;
  dram_checker commands;
  explicit bench(const gpu_config& c) : memory("memory", clock, c, 0), commands(c.dram) {
    slice.socket.bind(memory.request_sockets[0]);
    memory.watch(commands);
  }
  void run(cycle_t cycles) {
    sc_core::sc_start(clock.time_of(cycles) - sc_core::sc_time_stamp());
    EXPECT_TRUE(memory.idle());
    memory.check_invariants();
    for (const auto& [what, times] : commands.violations()) ADD_FAILURE() << what << ", " << times << " times";
  }
  cycle_t answered(std::uint64_t token) const { return answered_in(slice, token); }
  std::vector<std::uint64_t> order() const {
    std::vector<std::uint64_t> tokens;
    for (const auto& r : slice.records) tokens.push_back(r.token);
    return tokens;
  }
  /// Cycles of a command.
  std::vector<cycle_t> cycles(cmd c) const {
    std::vector<cycle_t> all;
    for (const auto& e : commands.log)
      if (e.command == c) all.push_back(e.cycle);
    return all;
  }
};
using cycles = std::vector<cycle_t>;

class dram_policies : public simulation {};

// BEGIN_REQ in cycle t, ready in t + 6; the answer is 5 cycles after the data and the cycle after them.
TEST_F(dram_policies, first_come_lets_no_row_hit_overtake) {
  gpu_config c = timing();
  c.dram.scheduler = choice::dram_scheduler::fcfs;
  bench b(c);
  b.slice.read(at(0, 0), 1, 10, 0);
  b.slice.read(at(0, 1), 1, 11, 1);
  for (unsigned i = 0; i < 3; ++i) b.slice.read(at(0, 0) + 128 * (i + 1), 1, 12 + i, 2 + i);
  b.slice.read(at(1, 0), 1, 15, 5);
  b.run(1000);
  EXPECT_EQ(b.order(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  // Rows 0, 1, 0 of bank 0, each open for tRAS; then bank 1, which was not opened in advance.
  EXPECT_EQ(b.cycles(cmd::act), (cycles{16, 16 + 53, 16 + 106, 16 + 106 + 11 + 4 + 1}));
}

TEST_F(dram_policies, closed_rows_are_closed_with_the_last_column_command) {
  gpu_config c = timing();
  c.dram.row_policy = choice::row_policy::closed;
  bench b(c);
  b.slice.read(at(0, 0), 1, 10, 0);
  b.slice.read(at(0, 1), 1, 200, 1);  // the row is closed: no precharge
  b.slice.read(at(0, 1), 1, 300, 2);  // closed again
  b.slice.write(at(1, 0), 0, std::vector<std::uint8_t>(32, 1), 400, 3);
  b.slice.read(at(1, 1), 1, 401, 4);  // waits for tWR and the precharge
  b.run(1000);
  EXPECT_EQ(b.answered(1), 201u + 5 + 11 + 17 + 1 + 5);
  EXPECT_EQ(b.answered(2), 301u + 5 + 11 + 17 + 1 + 5);
  EXPECT_EQ(b.cycles(cmd::rda).size(), 4u);
  EXPECT_EQ(b.cycles(cmd::wra), (cycles{406 + 11}));
  // Activate 406, write 417, data until 423, tWR until 432; tRAS until 446 holds longer; precharge.
  EXPECT_EQ(b.cycles(cmd::act).back(), 446u + 13);
  EXPECT_TRUE(b.cycles(cmd::pre).empty());
}

TEST_F(dram_policies, a_closed_row_serves_all_ready_requests_first) {
  gpu_config c = timing();
  c.dram.row_policy = choice::row_policy::closed;
  bench b(c);
  for (unsigned i = 0; i < 4; ++i) b.slice.read(at(0, 0) + 128 * i, 1, 10 + i, i);
  b.run(500);
  EXPECT_EQ(b.cycles(cmd::act).size(), 1u);
  EXPECT_EQ(b.cycles(cmd::rd).size(), 3u);
  EXPECT_EQ(b.cycles(cmd::rda).size(), 1u);
}

TEST_F(dram_policies, a_row_times_out) {
  gpu_config c = timing();
  c.dram.row_policy = choice::row_policy::timeout;
  c.dram.row_timeout_cycles = 60;
  bench b(c);
  b.slice.read(at(0, 0), 1, 10, 0);   // column command 27
  b.slice.read(at(0, 0), 1, 70, 1);   // 76: still open; the row is closed from 136 on
  b.slice.read(at(0, 0), 1, 131, 2);  // ready in 137: closed in 136, activate 149
  b.slice.read(at(0, 1), 1, 500, 3);  // closed meanwhile
  b.run(1000);
  EXPECT_EQ(b.cycles(cmd::pre), (cycles{136, 149 + 11 + 60}));
  EXPECT_EQ(b.cycles(cmd::act), (cycles{16, 149, 506}));
  EXPECT_EQ(b.answered(3), 501u + 5 + 11 + 17 + 1 + 5);
}

TEST_F(dram_policies, no_refresh_is_none_whatever_the_interval) {
  gpu_config c = timing();
  c.dram.t_refi_cycles = 100;
  c.dram.t_rfc_cycles = 50;
  c.dram.refresh = choice::refresh::none;
  bench b(c);
  for (unsigned i = 0; i < 10; ++i) b.slice.read(at(0, 0), 1, 10 + 100 * i, i);
  b.run(2000);
  EXPECT_EQ(b.memory.refreshes(), 0u);
  EXPECT_EQ(b.cycles(cmd::act).size(), 1u);
}

TEST_F(dram_policies, banks_are_refreshed_one_by_one_while_others_work) {
  gpu_config c = timing();
  c.dram.refresh = choice::refresh::per_bank;
  c.dram.t_refi_cycles = 400;  // a bank every 100 cycles, from 100 + 0 on
  c.dram.t_rfc_pb_cycles = 70;
  bench b(c);
  b.slice.read(at(0, 0), 1, 10, 0);  // both rows are open
  b.slice.read(at(1, 0), 1, 11, 1);
  b.slice.read(at(0, 0), 1, 96, 2);  // ready in 102: bank 0 was closed in 100 and is refreshed in 113
  b.slice.read(at(1, 0), 1, 97, 3);  // the other bank's row hit does not wait
  b.run(1000);
  EXPECT_EQ(b.cycles(cmd::refpb), (cycles{113}));
  EXPECT_EQ(b.answered(3), 98u + 5 + 17 + 1 + 5);
  EXPECT_EQ(b.answered(2), 113u + 70 + 11 + 17 + 1 + 5);
  EXPECT_EQ(b.memory.counters().find(0)->refresh_cycles, 113u + 70 - 103 - 1)
      << "from the data of the hit until the bank may open";
}

TEST_F(dram_policies, a_refresh_is_the_reason_for_idle_cycles_only_since_it_is_due) {
  gpu_config c = timing();
  c.dram.refresh = choice::refresh::per_bank;
  c.dram.t_refi_cycles = 400;
  c.dram.t_rfc_pb_cycles = 70;
  bench b(c);
  b.slice.read(at(0, 0), 1, 10, 0);
  b.slice.read(at(0, 1), 1, 90, 1);  // ready in 96, closes bank 0, whose refresh is due in 100
  b.run(1000);
  EXPECT_EQ(b.cycles(cmd::pre), (cycles{96}));
  EXPECT_EQ(b.cycles(cmd::refpb), (cycles{96 + 13}));
  EXPECT_EQ(b.cycles(cmd::act), (cycles{16, 109 + 70}));
  EXPECT_EQ(b.answered(1), 179u + 11 + 17 + 1 + 5);
  EXPECT_EQ(b.memory.counters().find(0)->refresh_cycles, 179u - 100);
}

TEST_F(dram_policies, every_bank_has_its_refresh_in_each_interval) {
  gpu_config c = timing();
  c.dram.refresh = choice::refresh::per_bank;
  c.dram.t_refi_cycles = 400;
  c.dram.t_rfc_pb_cycles = 70;
  bench b(c);
  for (unsigned i = 0; i < 4000; ++i) b.slice.read(at(i % 4, i / 7 % 3), 1, 10 + 5 * i, i);
  b.slice.read(at(0, 0), 1, 1000000, 5000);  // after a long sleep: counted, though not all are reported
  b.run(1001000);
  EXPECT_EQ(b.memory.refreshes(), 10000u);
  std::map<unsigned, std::vector<cycle_t>> of;
  for (const auto& e : b.commands.log)
    if (e.command == cmd::refpb) of[e.bank].push_back(e.cycle);
  ASSERT_EQ(of.size(), 4u);
  for (const auto& [bank, times] : of)
    for (std::size_t i = 1; i < times.size() && times[i] < 20000; ++i)
      EXPECT_NEAR(static_cast<double>(times[i] - times[i - 1]), 400, 100) << bank;
}

// Eight bursts of two requests: of one bank group they are tCCD_L apart, of two they interleave at tCCD_S.
TEST_F(dram_policies, bursts_to_two_bank_groups_interleave) {
  for (const bool two : {false, true}) {
    SetUp();  // another simulation
    gpu_config c = timing();
    c.dram.bank_groups = 2;
    c.dram.t_ccd_l_cycles = 4;
    bench b(c);
    b.slice.read(at(0, 0), 1, 1, 0);  // opens both rows
    b.slice.read(at(two ? 1 : 2, 0), 1, 2, 1);
    b.slice.read(at(0, 0), 0xf, 100, 2);
    b.slice.read(at(two ? 1 : 2, 0), 0xf, 100, 3);
    b.run(500);
    cycles reads = b.cycles(cmd::rd);
    reads.erase(reads.begin(), reads.begin() + 2);
    ASSERT_EQ(reads.size(), 8u);
    EXPECT_EQ(reads.front(), 106u);
    EXPECT_EQ(reads.back(), two ? 106u + 7 * 2 : 106u + 7 * 4);
    TearDown();
  }
  SetUp();
}

/// The youngest ready request first.
class youngest_first : public dram_scheduler {
 public:
  dram_choice select(const dram_queue& queue, cycle_t now) override {
    if (queue.ready() == 0) return {};
    const std::size_t youngest = queue.ready() - 1;
    const cycle_t earliest = queue.earliest(queue.next(queue[youngest]), queue[youngest].bank);
    if (earliest > now) return {dram_choice::none, earliest};
    return {youngest, never};
  }
};

/// Bank 3 alone, every 50 cycles.
class bank_three : public refresh_policy {
 public:
  [[nodiscard]] cycle_t interval() const override { return 50; }
  [[nodiscard]] unsigned bank(std::uint64_t) const override { return 3; }
};

/// Closes odd banks' rows at once.
class odd_banks : public row_policy {
 public:
  cycle_t close_at(unsigned bank, cycle_t now) override { return bank % 2 != 0 ? now : never; }
};

TEST_F(dram_policies, user_defined_ones_replace_them) {
  bench b(timing());
  b.memory.use(std::make_unique<youngest_first>());
  b.memory.use(std::make_unique<odd_banks>());
  b.memory.use(std::make_unique<bank_three>());
  for (unsigned i = 0; i < 4; ++i) b.slice.read(at(i, 0), 1, 10, i);
  b.slice.read(at(1, 0), 1, 300, 4);
  b.run(500);
  EXPECT_EQ(b.order()[3], 0u);
  EXPECT_EQ(b.cycles(cmd::rda).size(), 3u);
  EXPECT_EQ(b.cycles(cmd::rd).size(), 2u);
  for (const auto& e : b.commands.log) EXPECT_TRUE(e.command != cmd::refpb || e.bank == 3);
  EXPECT_GE(b.cycles(cmd::refpb).size(), 1u);
}

/// Chooses what its standard forbids.
class too_early : public dram_scheduler {
 public:
  dram_choice select(const dram_queue& queue, cycle_t) override {
    if (queue.ready() == 0) return {};
    return {0, never};
  }
};

TEST_F(dram_policies, a_scheduler_that_breaks_the_standard_is_stopped) {
  bench b(timing());
  b.memory.use(std::make_unique<too_early>());
  b.slice.read(at(0, 0), 1, 10, 0);
  EXPECT_ANY_THROW(b.run(500));
}

}  // namespace dram_policies_test
}  // namespace heddle::test

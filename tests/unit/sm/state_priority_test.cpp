// SPDX-License-Identifier: MIT
// The state of a warp that two conditions stall at the same time.
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "dependence_bench.h"
#include "heddle/sub_partition/account/launch_profile.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle::test {
namespace state_priority_test {

using namespace dependence_bench;

// If two conditions stall a warp at the same time, its state is the first of them in the order of the contract. Checks
// the states of a single warp during 60 further instructions.
class state_priority : public register_file {
 protected:
  template <class F>
  static std::array<double, static_cast<std::size_t>(warp_cycle::count)> states_of(F make,
                                                                                   std::vector<std::string> settings) {
    restart();
    sm_harness h(without_fetch("gtx1080", settings));
    for (const unsigned length : {40u, 100u}) {
      std::vector<isa::instruction> code;
      for (unsigned k = 0; k < length; ++k) code.push_back(make(k));
      code.push_back(exit_instruction());
      h.run(std::move(code), 32, 1, 64);
    }
    std::array<double, static_cast<std::size_t>(warp_cycle::count)> each{};
    for (std::size_t s = 0; s < each.size(); ++s)
      each[s] = static_cast<double>(h.total(1).warp_cycles[s] - h.total(0).warp_cycles[s]) / 60;
    return each;
  }
  static double in(const std::array<double, static_cast<std::size_t>(warp_cycle::count)>& each, warp_cycle state) {
    return each[static_cast<std::size_t>(state)];
  }
};

TEST_F(state_priority, a_missing_operand_takes_precedence_over_a_busy_unit) {
  const std::vector<std::string> settings = {"fp64.latency_cycles=8"};  // one warp every 8 cycles through four lanes
  auto each = states_of(dadd, settings);
  EXPECT_EQ(1.0, in(each, warp_cycle::selected));
  EXPECT_EQ(7.0, in(each, warp_cycle::pipe_busy));
  EXPECT_EQ(0.0, in(each, warp_cycle::exec_dependency));
  const auto chain = [](unsigned) {
    isa::instruction i = dadd(0);
    i.src[0] = isa::make_reg(0, 2);
    i.src[1] = isa::make_reg(18, 2);  // in other banks
    return i;
  };
  each = states_of(chain, {"fp64.latency_cycles=5"});
  EXPECT_EQ(1.0, in(each, warp_cycle::selected));
  EXPECT_EQ(4.0, in(each, warp_cycle::exec_dependency));
  EXPECT_EQ(3.0, in(each, warp_cycle::pipe_busy)) << "the unit is busy in all seven";
}

TEST_F(state_priority, a_missing_instruction_takes_precedence_over_its_operand) {
  const auto chain = [](unsigned) { return ffma(0, 0, 1, 2); };
  auto each = states_of(chain, {});
  EXPECT_EQ(5.0, in(each, warp_cycle::exec_dependency));
  EXPECT_EQ(0.0, in(each, warp_cycle::inst_fetch));
  each = states_of(chain, {"sub_partition.issue_width=1", "sub_partition.dual_issue=none",
                           "sub_partition.instruction_buffer_entries=1", "sub_partition.fetch_latency_cycles=4"});
  EXPECT_EQ(1.0, in(each, warp_cycle::selected));
  EXPECT_EQ(3.0, in(each, warp_cycle::inst_fetch));
  EXPECT_EQ(2.0, in(each, warp_cycle::exec_dependency)) << "the operand lacks in all five";
}

// A memory instruction and an FFMA that overwrites its source, 60 times. The FFMA waits for no result of fixed latency,
// but for the read of the source by the memory path, counted as that path's scoreboard. The next memory instruction,
// whose source the FFMA writes, waits for the FFMA's latency.
TEST_F(state_priority, a_wait_for_a_read_is_counted_for_its_path) {
  const auto stalls_of = [](isa::space space) {
    restart();
    sm_harness h(
        without_fetch("v100", {"ldst.shared_load_read_latency_cycles=11", "ldst.load_read_latency_cycles=15"}));
    for (const unsigned turns : {20u, 80u}) {
      std::vector<isa::instruction> code = {
          op(isa::opcode::mov, 2, isa::make_immediate(space == isa::space::global ? isa::heap_base : 0)),
          op(isa::opcode::mov, 3, isa::make_immediate(space == isa::space::global ? isa::heap_base >> 32 : 0))};
      for (unsigned k = 0; k < turns; ++k) {
        code.push_back(load(isa::rz, 2));  // the word is not used
        if (space == isa::space::shared) code.back().src[0] = isa::make_reg(2);
        code.back().mem_space = space;
        code.push_back(op(isa::opcode::mov, 2, isa::make_immediate(space == isa::space::global ? isa::heap_base : 0)));
      }
      code.push_back(exit_instruction());
      h.run(std::move(code), 32, 1, 64);
    }
    std::array<double, static_cast<std::size_t>(warp_stall::count)> each{};
    for (std::size_t s = 0; s < each.size(); ++s)
      each[s] = static_cast<double>(h.total(1).warp_stalls[s] - h.total(0).warp_stalls[s]) / 60;
    return each;
  };
  const auto in = [](const auto& each, warp_stall s) { return each[static_cast<std::size_t>(s)]; };
  const auto shared = stalls_of(isa::space::shared), global = stalls_of(isa::space::global);
  EXPECT_EQ(in(shared, warp_stall::short_scoreboard), 10.0);
  EXPECT_EQ(in(shared, warp_stall::long_scoreboard), 0.0);
  EXPECT_EQ(in(shared, warp_stall::wait), 3.0);
  EXPECT_EQ(in(global, warp_stall::short_scoreboard), 0.0);
  EXPECT_EQ(in(global, warp_stall::long_scoreboard), 14.0);
  EXPECT_EQ(in(global, warp_stall::wait), 3.0);
}

TEST(launch_profile, counts_beyond_32_bits) {
  const auto program = std::make_shared<decoded_program>();
  program->code.resize(3);
  launch_profile profile;
  profile.begin(program);
  constexpr std::uint64_t most = 0xffff'ffff;
  constexpr unsigned barrier = static_cast<unsigned>(warp_stall::barrier);
  profile.add(profile.lines()[1], launch_profile::executed, most);
  profile.add(profile.lines()[1], launch_profile::executed, 3);
  profile.add(profile.lines()[2], launch_profile::executed, 5);
  profile.add(profile.lines()[2], launch_profile::what(barrier), 7 * (most + 1) + 1);
  EXPECT_EQ(0u, profile.at(0).executed);
  EXPECT_EQ(most + 3, profile.at(1).executed);
  EXPECT_EQ(5u, profile.at(2).executed);
  EXPECT_EQ(7 * (most + 1) + 1, profile.at(2).stalls[barrier]);
}

}  // namespace state_priority_test
}  // namespace heddle::test

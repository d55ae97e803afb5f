// SPDX-License-Identifier: MIT
// Scheduling policies: the selected warps, the warps held back, and the example of docs/model/scheduling.md.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "heddle/config/config.h"
#include "heddle/config/parameter_table.h"
#include "highest_slot.h"
#include "sm_harness.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace scheduling_policy_test {

std::unique_ptr<scheduling_policy> policy(const std::string& name, unsigned group = 8, unsigned sub_partition = 0) {
  sub_partition_parameters p;
  const parameter* chosen = find_parameter("sub_partition.scheduler");
  gpu_config config;
  EXPECT_EQ("", set_text(config, *chosen, name));
  p.scheduler = config.sub_partition.scheduler;
  p.fetch_group_warps = group;
  auto made = make_scheduling_policy(p, {16, sub_partition});
  // In order of placement: slot 3 is the oldest, slot 5 the youngest.
  for (const unsigned slot : {3, 0, 1, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 5}) made->placed(slot, 0);
  return made;
}

TEST(scheduling_policy, round_robin_visits_every_slot) {
  auto p = policy("lrr");
  EXPECT_EQ(p->select({0b1011, 0, 0}), 0u);
  EXPECT_EQ(p->select({0b1011, 0, 1}), 1u);
  EXPECT_EQ(p->select({0b1011, 0, 2}), 3u);
  EXPECT_EQ(p->select({0b1011, 0, 3}), 0u);
}

TEST(scheduling_policy, greedy_policies_keep_their_warp_and_then_choose_by_age) {
  auto gto = policy("gto");
  EXPECT_EQ(gto->select({0b110000, 0, 0}), 4u);
  EXPECT_EQ(gto->select({0b111000, 0, 1}), 4u);
  EXPECT_EQ(gto->select({0b101001, 0, 2}), 3u);
  auto cggty = policy("cggty");
  EXPECT_EQ(cggty->select({0b011000, 0, 0}), 4u);
  EXPECT_EQ(cggty->select({0b111000, 0, 1}), 4u);
  EXPECT_EQ(cggty->select({0b101001, 0, 2}), 5u);
  auto oldest = policy("oldest");
  EXPECT_EQ(oldest->select({0b110000, 0, 0}), 4u);
  EXPECT_EQ(oldest->select({0b111000, 0, 1}), 3u);
}

TEST(scheduling_policy, a_refilled_slot_is_the_youngest) {
  auto oldest = policy("oldest");
  oldest->removed(3);
  oldest->placed(3, 9);
  EXPECT_EQ(oldest->select({0b001001, 0, 0}), 0u);
}

TEST(scheduling_policy, two_levels_move_on_when_a_whole_group_waits) {
  auto p = policy("two_level", 4);
  EXPECT_EQ(p->select({0xff, 0, 0}), 0u);
  EXPECT_EQ(p->select({0xff, 0, 1}), 1u);
  EXPECT_EQ(p->select({0xf3, 0x0c, 2}), 0u) << "half the group can go on";
  EXPECT_EQ(p->select({0xf0, 0x0c, 3}), 4u) << "others fill the gap";
  EXPECT_EQ(p->select({0xf3, 0x0c, 4}), 0u) << "the group is still the active one";
  EXPECT_EQ(p->select({0xf0, 0x0f, 5}), 4u);
  EXPECT_EQ(p->select({0xff, 0, 6}), 5u) << "the next group has become the active one";
}

TEST(scheduling_policy, two_levels_visit_every_possible_slot) {
  sub_partition_parameters parameters;
  parameters.scheduler = choice::scheduler::two_level;
  parameters.fetch_group_warps = 64;
  const auto p = make_scheduling_policy(parameters, {64, 0});
  for (const unsigned slot : {0, 62, 63}) p->placed(slot, 0);
  const std::uint64_t all = 1 | std::uint64_t{3} << 62;
  EXPECT_EQ(p->select({all, 0, 0}), 0u);
  EXPECT_EQ(p->select({all, 0, 1}), 62u);
  EXPECT_EQ(p->select({all, 0, 2}), 63u);
  EXPECT_EQ(p->select({all, 0, 3}), 0u);
}

TEST(scheduling_policy, strided_groups_separate_neighbours) {
  auto even = policy("prefetch_aware", 8, 0);
  EXPECT_EQ(even->select({0xf, 0, 0}), 0u);
  EXPECT_EQ(even->select({0xf, 0, 1}), 2u);
  auto odd = policy("prefetch_aware", 8, 1);
  EXPECT_EQ(odd->select({0xf, 0, 0}), 1u) << "the neighbour by warp id sits in the same slot of the next sub-partition";
}

TEST(scheduling_policy, memory_has_one_owner_while_it_is_saturated) {
  auto p = policy("memory_aware");
  ASSERT_TRUE(p->holds_memory());
  EXPECT_EQ(p->held({}, 0b1111, 0b1111, false), 0u);
  EXPECT_EQ(p->held({}, 0b1111, 0b1111, true), 0b0111u) << "the oldest owns it";
  EXPECT_EQ(p->held({0, 0, 1}, 0b0111, 0b0111, true), 0b0111u) << "even while it computes";
  EXPECT_EQ(p->held({0, 0b1000, 2}, 0b0111, 0b0111, true), 0b0110u) << "until it waits for its data";
  p->removed(0);
  EXPECT_EQ(p->held({}, 0b0110, 0b0110, true), 0b0100u);
  EXPECT_EQ(p->held({}, 0b0110, 0b0110, false), 0u);
}

TEST(scheduling_policy, lost_locality_holds_loads_until_the_score_has_fallen) {
  auto p = policy("ccws");
  ASSERT_TRUE(p->wants_lost_locality());
  EXPECT_EQ(p->held({}, 0xffff, 0xffff, false), 0u);
  p->lost_locality(7, 0);
  // One loss in one issue, weight 8: the score is capped at the whole stack of 16 x 100, and only its warp may load.
  EXPECT_EQ(p->held({0, 0, 0}, 0xffff, 0xff0f, false), 0xff0fu & ~0x80u);
  // The other scores fit below the cutoff again, one by one.
  EXPECT_EQ(__builtin_popcountll(p->held({0, 0, 800}, 0xffff, 0xffff, false)), 8);
  EXPECT_EQ(p->held({0, 0, 1600}, 0xffff, 0xffff, false), 0u);
}

TEST(scheduling_policy, every_name_of_the_configuration_has_one) {
  for (std::size_t k = 0; k < find_parameter("sub_partition.scheduler")->choices.size(); ++k) {
    sub_partition_parameters p;
    p.scheduler = static_cast<choice::scheduler>(k);
    EXPECT_NE(make_scheduling_policy(p, {16, 0}), nullptr);
  }
  sub_partition_parameters p;
  p.scheduler = static_cast<choice::scheduler>(200);
  EXPECT_THROW(static_cast<void>(make_scheduling_policy(p, {16, 0})), internal_error);
}

std::string text_of(const char* file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(scheduling_policy, the_example_of_the_documentation_is_this_one) {
  const std::string example = text_of(HEDDLE_SOURCE "/tests/unit/sm/highest_slot.h");
  ASSERT_FALSE(example.empty());
  EXPECT_NE(text_of(HEDDLE_SOURCE "/docs/model/scheduling.md").find("```cpp\n" + example + "```"), std::string::npos);
  EXPECT_LT(std::count(example.begin(), example.end(), '\n'), 40);
}

class scheduling_example : public fresh_simulation {};

TEST_F(scheduling_example, runs_a_kernel) {
  sm_harness h(load_config("gtx1080"));
  for (auto& p : h.sm.partitions)
    p.scheduler.use(std::make_unique<highest_slot>(h.config.sub_partition, policy_place{16, 0}));
  std::vector<isa::instruction> code;
  for (unsigned i = 0; i < 50; ++i) code.push_back(ffma(static_cast<std::uint8_t>(i % 5), 0, 1, 2));
  code.push_back(exit_instruction());
  EXPECT_TRUE(h.run(std::move(code), 512, 8).finished);
  EXPECT_EQ(h.total(0).inst_executed, 51u * 16 * 8);
  h.sm.check_invariants();
}

}  // namespace scheduling_policy_test
}  // namespace heddle::test

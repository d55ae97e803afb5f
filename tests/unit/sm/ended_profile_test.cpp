// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/ended_profile.h"

#include <gtest/gtest.h>

#include "heddle/config/error.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {
namespace {

// An addition, an access to memory and an addition that was never executed.
decoded_program three_instructions() {
  decoded_program p;
  p.code.resize(3);
  p.code[1].kind = issue_kind::memory;
  return p;
}

launch_code counts_of(const decoded_program& p) {
  launch_code code;
  code.program = &p;
  code.counts.resize(3);
  code.counts[0].counts[launch_profile::executed] = 7;
  code.counts[0].counts[launch_profile::what(state_count - 1)] = std::uint64_t{1} << 63;
  instruction_sum& access = code.counts[1];
  for (std::size_t i = 0; i < access.counts.size(); ++i) access.counts[i] = ~std::uint64_t{0} >> (2 * i);
  access.traffic.shared_passes = 130;
  access.traffic.fetched_sectors = std::uint64_t{1} << 40;
  access.bank_conflicts = 127;
  return code;
}

void expect_same(const launch_code& a, const launch_code& b) {
  ASSERT_EQ(a.counts.size(), b.counts.size());
  for (std::size_t i = 0; i < a.counts.size(); ++i) {
    EXPECT_EQ(a.counts[i].counts, b.counts[i].counts) << i;
    EXPECT_EQ(a.counts[i].traffic.shared_passes, b.counts[i].traffic.shared_passes) << i;
    EXPECT_EQ(a.counts[i].traffic.fetched_sectors, b.counts[i].traffic.fetched_sectors) << i;
    EXPECT_EQ(a.counts[i].traffic.flits, b.counts[i].traffic.flits) << i;
    EXPECT_EQ(a.counts[i].bank_conflicts, b.counts[i].bank_conflicts) << i;
  }
}

TEST(ended_profile, gives_back_what_it_was_given) {
  const decoded_program p = three_instructions();
  const launch_code code = counts_of(p);
  const ended_profile kept(code, {{3, 1.5}, {8, 2.5}});
  expect_same(code, kept.code_of(p));
  EXPECT_EQ(130u, kept.shared_passes());
  EXPECT_EQ(1.5, kept.instruction_pj(3));
  EXPECT_EQ(2.5, kept.instruction_pj(8));
  EXPECT_THROW(static_cast<void>(kept.instruction_pj(4)), internal_error);
}

TEST(ended_profile, has_no_counts_of_a_launch_that_came_to_no_sm) {
  const decoded_program p = three_instructions();
  const launch_code none = ended_profile(launch_code(), {}).code_of(p);
  EXPECT_EQ(nullptr, none.program);
  EXPECT_TRUE(none.counts.empty());
}

TEST(ended_profile, goes_through_a_state_image) {
  const decoded_program p = three_instructions();
  ended_profile kept(counts_of(p), {{3, 1.5}}), read;
  state_image to;
  to(kept);
  state_image from(to.take());
  from(read);
  EXPECT_TRUE(from.at_end());
  expect_same(counts_of(p), read.code_of(p));
  EXPECT_EQ(1.5, read.instruction_pj(3));
  EXPECT_EQ(130u, read.shared_passes());
}

TEST(ended_profile, refuses_what_is_cut) {
  const decoded_program p = three_instructions();
  ended_profile kept(launch_code(), {}), read;
  state_image to;
  std::vector<std::uint8_t> bytes{0x80};
  std::vector<ended_profile::sm_energy> energies;
  std::uint64_t passes = 0;
  to(bytes, energies, passes);
  state_image from(to.take());
  from(read);
  EXPECT_THROW(static_cast<void>(read.code_of(p)), state_error);
}

}  // namespace
}  // namespace heddle

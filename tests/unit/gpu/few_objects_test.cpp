// SPDX-License-Identifier: MIT
// How many objects of SystemC a GPU is made of: they are what its construction takes.
#include <gtest/gtest.h>

#include <string>

#include "heddle/config/config.h"
#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace few_objects_test {

class few_objects : public fresh_simulation {};

std::size_t objects_below(const sc_core::sc_object& top) {
  std::size_t count = 0;
  for (const sc_core::sc_object* child : top.get_child_objects()) count += 1 + objects_below(*child);
  return count;
}

TEST_F(few_objects, make_an_sm) {
  for (const char* name : {"v100", "h100"}) {
    restart();
    const gpu g("gpu", load_config(name, {"gpu.sm_count=2"}));
    const sc_core::sc_object* const sm0 = sc_core::sc_find_object("gpu.sm0");
    ASSERT_NE(nullptr, sm0);
    EXPECT_LE(objects_below(*sm0), 20u) << name;
  }
}

TEST_F(few_objects, unless_parts_are_to_be_objects) {
  gpu g("gpu", load_config("v100", {"gpu.sm_count=2"}));
  EXPECT_EQ(nullptr, sc_core::sc_find_object("gpu.sm1.partition3.fp32"));
  make_part_objects(g);
  for (const char* name : {"gpu.sm0.instruction_cache3", "gpu.sm1.second_instruction_cache", "gpu.sm1.partition3.fp32",
                           "gpu.sm1.partition3.fetch", "gpu.sm0.partition0.scoreboard"}) {
    const sc_core::sc_object* const found = sc_core::sc_find_object(name);
    ASSERT_NE(nullptr, found) << name;
    EXPECT_STREQ(name, found->name());
  }
  for (sub_partition& p : g.sm_at(1).partitions)
    for (const module_part* part : p.parts())
      EXPECT_NE(nullptr, sc_core::sc_find_object(part->name().c_str())) << part->name();
}

}  // namespace few_objects_test
}  // namespace heddle::test

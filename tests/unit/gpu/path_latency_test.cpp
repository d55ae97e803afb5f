// SPDX-License-Identifier: MIT
// Latencies of paths between clocks that are far apart.
#include "heddle/gpu/path_latency.h"

#include <gtest/gtest.h>

#include <string>

#include "heddle/config/config.h"
#include "heddle/config/error.h"

namespace heddle::test {
namespace path_latency_test {

// The quotient of the clocks makes 10^10 cycles of a latency of 10^5, which 32 bits do not hold.
TEST(path_latency, is_refused_where_two_clocks_make_more_cycles_than_a_path_has) {
  gpu_config c = load_config("v100");
  c.gpu.core_clock_mhz = 1;
  c.interconnect.clock_mhz = 100000;
  c.l2.latency_cycles = c.l2.far_latency_cycles = c.instruction_cache.second_level_miss_latency_cycles = 100000;
  const auto refuses = [&c](unsigned (*f)(const gpu_config&), const std::string& key) {
    try {
      (void)f(c);
    } catch (const input_error& e) {
      return std::string(e.what()).rfind(key + " is ", 0) == 0;
    }
    return false;
  };
  EXPECT_TRUE(refuses(l2_hit_cycles, "l2.latency_cycles"));
  EXPECT_TRUE(refuses(l2_code_hit_cycles, "instruction_cache.second_level_miss_latency_cycles"));
  EXPECT_TRUE(refuses(l2_far_cycles, "l2.far_latency_cycles"));
  c.interconnect.clock_mhz = 2;
  EXPECT_EQ(l2_far_cycles(c), 200000u);
}

}  // namespace path_latency_test
}  // namespace heddle::test

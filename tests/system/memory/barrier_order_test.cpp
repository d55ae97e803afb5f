// SPDX-License-Identifier: MIT
// A barrier orders the accesses to global memory of a block's warps, also those of different sub-partitions.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace barrier_order_test {

namespace fs = std::filesystem;

struct expectation {
  const char* kernel;
  std::uint32_t read;  // by all 32 threads
};

class barrier_order : public ::testing::TestWithParam<expectation> {};

// Runs the kernel `name` of `file` and expects that 32 threads have read `expected`.
void expect_read(const std::string& file, const std::string& name, std::uint32_t expected, const std::string& grid,
                 const std::string& gpu) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/barrier_order") / (name + "_" + gpu);
  fs::create_directories(place);
  const heddle::test::outcome o = heddle::test::run_program(
      {HEDDLE_PROGRAM, "run", "--kernel", HEDDLE_SOURCE "/tests/system/memory/" + file + ":" + name, "--grid", grid,
       "--block", "64", "--arg", "buf:524288", "--arg", "buf:4", "--arg", "out:128:out.bin", "--arg", "buf:512",
       "--quiet", "--gpu", gpu},
      {place});
  ASSERT_EQ(o.code, 0) << gpu << ": " << o.err;
  const std::string bytes = heddle::test::content(place / "out.bin");
  ASSERT_EQ(bytes.size(), 128u);
  for (unsigned thread = 0; thread < 32; ++thread) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + 4 * thread, 4);
    EXPECT_EQ(value, expected) << gpu << ", thread " << thread;
  }
}

TEST_P(barrier_order, of_global_accesses) {
  for (const char* gpu : {"gtx480", "gtx1080", "v100", "h100"})
    expect_read("barrier_order.ptx", GetParam().kernel, GetParam().read, "1", gpu);
}

TEST(barrier_order_in_cluster, of_accesses_to_the_other_block) {
  expect_read("barrier_order_cluster.ptx", "remote_store", 1, "2", "h100");
}

TEST(barrier_order_of_arrivals, at_an_mbarrier) {
  for (const char* gpu : {"a100", "h100"}) {
    expect_read("barrier_order_arrival.ptx", "store_then_arrive", 1, "1", gpu);
    expect_read("barrier_order_arrival.ptx", "load_then_arrive", 0, "1", gpu);
  }
}

INSTANTIATE_TEST_SUITE_P(kernel, barrier_order,
                         ::testing::Values(expectation{"store_then_load", 1}, expectation{"add_then_load", 5},
                                           expectation{"load_then_store", 0}),
                         [](const auto& info) { return std::string(info.param.kernel); });

}  // namespace barrier_order_test

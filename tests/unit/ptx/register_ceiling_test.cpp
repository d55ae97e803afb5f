// SPDX-License-Identifier: MIT
// Register limits from .maxntid, .reqntid, .minnctapersm and .maxnreg, compared with ptxas 13.0 and the occupancy
// calculator.
#include <gtest/gtest.h>

#include "heddle/config/config.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/machine/register_ceiling.h"
#include "heddle/occupancy/occupancy.h"

namespace heddle {
namespace register_ceiling_test {

ptx::ast_function kernel_with(const std::string& directives) {
  const auto module = ptx::parse(
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n" + directives + "\n{ ret; }\n", "k.ptx");
  return module->functions.at(0);
}

struct row {
  const char* directives;
  unsigned registers;
};

void expect_rows(const char* gpu, std::initializer_list<row> rows) {
  const gpu_config config = load_config(gpu);
  for (const row& r : rows)
    EXPECT_EQ(ptx::register_ceiling(config, kernel_with(r.directives)), r.registers) << gpu << " " << r.directives;
}

// "Used N registers" of ptxas 13.0 -v -arch=sm_75 for a kernel with 300 live values.
TEST(register_ceiling, is_what_ptxas_takes_on_compute_capability_7_5) {
  expect_rows("rtx2060", {{"", 255},
                          {".maxntid 32", 255},
                          {".maxntid 256", 255},
                          {".maxntid 257", 168},
                          {".maxntid 384", 168},
                          {".maxntid 416", 128},
                          {".maxntid 512", 128},
                          {".maxntid 544", 96},
                          {".maxntid 640", 96},
                          {".maxntid 700", 80},
                          {".maxntid 768", 80},
                          {".maxntid 832", 72},
                          {".maxntid 896", 72},
                          {".maxntid 960", 64},
                          {".maxntid 1024", 64},
                          {".maxntid 16, 16", 255},
                          {".maxntid 1025", 255},
                          {".maxntid 33, 33, 1", 255},
                          {".reqntid 1024", 64},
                          {".reqntid 500", 128},
                          {".reqntid 32, 20", 96},
                          {".minnctapersm 4", 255},
                          {".maxntid 256 .minnctapersm 1", 255},
                          {".maxntid 256 .minnctapersm 2", 128},
                          {".maxntid 256 .minnctapersm 3", 80},
                          {".maxntid 256 .minnctapersm 4", 64},
                          {".maxntid 256 .minnctapersm 5", 255},
                          {".maxntid 128 .minnctapersm 5", 96},
                          {".maxntid 128 .minnctapersm 7", 72},
                          {".maxntid 100 .minnctapersm 4", 128},
                          {".maxntid 100 .minnctapersm 10", 255},
                          {".maxntid 96 .minnctapersm 5", 128},
                          {".maxntid 64 .minnctapersm 16", 64},
                          {".maxntid 64 .minnctapersm 17", 255},
                          {".maxntid 33 .minnctapersm 16", 64},
                          {".maxntid 1024 .minnctapersm 2", 64},
                          {".reqntid 256 .minnctapersm 4", 64}});
}

TEST(register_ceiling, of_maxnreg_is_what_ptxas_takes) {
  expect_rows("rtx2060", {{".maxnreg 1", 24},
                          {".maxnreg 23", 24},
                          {".maxnreg 24", 24},
                          {".maxnreg 33", 33},
                          {".maxnreg 255", 255},
                          {".maxnreg 256", 255},
                          {".maxntid 1024 .maxnreg 128", 128},
                          {".reqntid 1024 .maxnreg 128", 128},
                          {".maxntid 1024 .minnctapersm 1 .maxnreg 128", 64},
                          {".maxntid 1024 .minnctapersm 3 .maxnreg 128", 128},
                          {".maxntid 256 .maxnreg 32", 32},
                          {".maxntid 256 .minnctapersm 4 .maxnreg 40", 40},
                          {".maxntid 256 .minnctapersm 4 .maxnreg 100", 64},
                          {".minnctapersm 4 .maxnreg 100", 100}});
}

TEST(register_ceiling, is_what_ptxas_takes_where_more_threads_are_resident) {
  expect_rows("a100", {{".maxntid 1025", 56},
                       {".maxntid 2048", 32},
                       {".maxntid 256 .minnctapersm 5", 48},
                       {".maxntid 256 .minnctapersm 6", 40},
                       {".maxntid 256 .minnctapersm 8", 32},
                       {".maxntid 128 .minnctapersm 9", 56},
                       {".maxntid 64 .minnctapersm 32", 32},
                       {".maxntid 64 .minnctapersm 33", 255},
                       {".maxntid 32 .minnctapersm 32", 64},
                       {".maxntid 1024 .minnctapersm 2", 32},
                       {".maxntid 1024 .minnctapersm 3", 64}});
  expect_rows("rtx3080", {{".maxntid 1536", 40}, {".maxntid 1537", 255}});
  expect_rows("rtx4090", {{".maxntid 64 .minnctapersm 24", 40}});
  expect_rows("h100", {{".maxntid 64 .minnctapersm 32", 32}, {".maxntid 96 .minnctapersm 5", 128}});
}

// The calculator does not know the directives: the number of blocks that an SM can hold must be what they request, and
// fewer with one more register.
TEST(register_ceiling, lets_the_blocks_fit_on_every_chip) {
  for (const char* gpu : {"g80", "gtx480", "gtx750ti", "gtx980", "gtxtitan", "p100", "gtx1080", "v100", "rtx2060",
                          "a100", "rtx3080", "rtx4090", "h100", "b200", "rtx5090"}) {
    const gpu_config config = load_config(gpu);
    const occupancy_calculator calculator(config);
    for (unsigned threads = 1; threads <= config.sm.max_threads_per_block; threads += threads < 64 ? 1 : 23)
      for (const unsigned blocks : {1u, 2u, 3u, 5u, 8u}) {
        if (std::uint64_t{(threads + 31) / 32 * 32} * blocks > config.sm.max_threads || blocks > config.sm.max_blocks)
          continue;
        const unsigned registers = ptx::registers_that_fit(config, threads, blocks);
        ASSERT_GT(registers, 0u) << gpu << " " << threads << " x " << blocks;
        const auto holds = [&](unsigned r) { return calculator.footprint({threads, r}).limits.registers; };
        EXPECT_GE(holds(registers), blocks) << gpu << " " << threads << " x " << blocks;
        const unsigned step = config.sm.register_allocation_unit / 32, more = registers / step * step + step;
        if (config.sm.register_allocation == choice::register_allocation::warp &&
            more <= config.sm.registers_per_thread) {
          EXPECT_LT(holds(more), blocks) << gpu << " " << threads << " x " << blocks;
        }
      }
  }
}

}  // namespace register_ceiling_test
}  // namespace heddle

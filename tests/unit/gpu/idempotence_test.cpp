// SPDX-License-Identifier: MIT
// Which kernels are proven to give the same result if their blocks are flushed and restarted.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/gpu/host/idempotence.h"

namespace heddle {
namespace idempotence_test {

constexpr std::uint64_t first = 0x1000'0000, second = 0x1001'0000, third = 0x1002'0000;

class idempotence : public ::testing::TestWithParam<const char*> {
 protected:
  idempotence() {
    for (const std::uint64_t base : {first, second, third}) ranges.add(base, 4096);
  }
  /// A kernel with parameters a, b, c (pointers) and n, with registers ready; %rd1 to %rd3 hold a to c, %rd4 an offset.
  [[nodiscard]] std::string why(const std::string& body,
                                std::vector<std::uint64_t> pointers = {first, second, third}) const {
    const std::string text = R"(.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .b32 %r<12>;
  .reg .b64 %rd<12>;
  .reg .f32 %f<4>;
  .reg .pred %p<3>;
  .shared .align 8 .b8 room[1024];
  .local .align 8 .b8 own[64];
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r2, %r1, %r2;
  mul.wide.s32 %rd4, %r3, 4;
)" + body + "\n  ret;\n}\n";
    const auto program = ptx::lower(ptx::place(ptx::parse(text, "k.ptx"), 0, 0), "k", load_config(GetParam()));
    std::vector<std::uint8_t> parameters(program->parameter_bytes, 0);
    std::memcpy(parameters.data(), pointers.data(), 24);
    parameters[24] = 7;
    return why_not_idempotent(footprint_of(*program), parameters, ranges, nullptr);
  }
  address_ranges ranges;
};

// 16-bit products and a 32-bit multiplier yield different address arithmetic.
INSTANTIATE_TEST_SUITE_P(gpu, idempotence, ::testing::Values("gtx1080", "v100"));

const char* const copy = R"(
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  ld.global.u32 %r4, [%rd5];
  st.global.u32 [%rd6], %r4;)";

TEST_P(idempotence, is_shown_for_what_writes_elsewhere_than_it_reads) { EXPECT_EQ("", why(copy)); }

TEST_P(idempotence, is_not_shown_for_one_allocation_read_and_written) {
  EXPECT_NE(std::string::npos, why(copy, {first, first, third}).find("may load what line"));
  EXPECT_NE("", why(copy, {first, first + 2048, third}));
}

TEST_P(idempotence, is_not_shown_for_pointers_outside_of_allocations) {
  EXPECT_NE("", why(copy, {first, 0x5000'0000, third}));
}

TEST_P(idempotence, is_not_shown_for_atomics) {
  EXPECT_NE("", why("  red.global.add.u32 [%rd1], %r2;"));
  EXPECT_NE("", why("  atom.global.add.u32 %r4, [%rd1], 1;\n  st.global.u32 [%rd2], %r4;"));
}

TEST_P(idempotence, is_shown_for_atomics_of_the_block) {
  EXPECT_EQ("",
            why("  atom.shared.add.u32 %r4, [room], 1;\n  add.s64 %rd5, %rd2, %rd4;\n  st.global.u32 [%rd5], %r4;"));
}

TEST_P(idempotence, follows_an_index_from_memory_but_no_pointer) {
  EXPECT_EQ("", why(R"(
  add.s64 %rd5, %rd1, %rd4;
  ld.global.s32 %r4, [%rd5];
  mul.wide.s32 %rd6, %r4, 4;
  add.s64 %rd6, %rd3, %rd6;
  ld.global.u32 %r5, [%rd6];
  add.s64 %rd7, %rd2, %rd4;
  st.global.u32 [%rd7], %r5;)"));
  EXPECT_NE("", why(R"(
  ld.global.u64 %rd5, [%rd1];
  ld.global.u32 %r5, [%rd5];
  add.s64 %rd7, %rd2, %rd4;
  st.global.u32 [%rd7], %r5;)"));
}

TEST_P(idempotence, follows_pointers_through_selections_loops_and_the_memory_of_the_block) {
  // Either b or c is written, so neither may be read.
  const std::string selection = R"(
  setp.gt.u32 %p1, %r2, 5;
  selp.b64 %rd5, %rd2, %rd3, %p1;
  add.s64 %rd5, %rd5, %rd4;
  st.global.u32 [%rd5], %r2;)";
  EXPECT_EQ("", why(selection + "\n  ld.global.u32 %r4, [%rd1];\n  st.shared.u32 [room], %r4;"));
  for (const char* read : {"%rd2", "%rd3"})
    EXPECT_NE("", why(selection + "\n  ld.global.u32 %r4, [" + read + "];\n  st.shared.u32 [room], %r4;")) << read;
  const std::string loop = R"(
  mov.u64 %rd5, %rd1;
again:
  ld.global.u32 %r4, [%rd5];
  st.shared.u32 [room], %r4;
  mov.u64 %rd5, %rd2;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;)";
  EXPECT_EQ("", why(loop + "\n  st.global.u32 [%rd3], %r2;"));
  EXPECT_NE("", why(loop + "\n  st.global.u32 [%rd2], %r2;"));
  const std::string kept = R"(
  st.shared.u64 [room], %rd1;
  bar.sync 0;
  ld.shared.u64 %rd5, [room];
  ld.global.u32 %r4, [%rd5];)";
  EXPECT_EQ("", why(kept + "\n  st.global.u32 [%rd2], %r4;"));
  EXPECT_NE("", why(kept + "\n  st.global.u32 [%rd1], %r4;"));
}

TEST_P(idempotence, takes_the_programs_word_for_read_only_data) {
  EXPECT_EQ("", why("  ld.global.nc.u32 %r4, [%rd1];\n  st.global.u32 [%rd2], %r4;", {first, first, third}));
}

}  // namespace idempotence_test
}  // namespace heddle

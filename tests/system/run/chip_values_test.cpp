// SPDX-License-Identifier: MIT
// Results that an H100 gives where others would be conceivable (measured, driver 580).

#include "tests/system/common/ptx_run.h"

namespace chip_values_test {

using namespace ptx_runs;

/// What one thread leaves in %r10.
std::uint32_t word(const std::string& code, const std::string& declarations = "") {
  const outcome o = run(module_of(declarations, code + "st.global.u32 [%o], %r10;"), "h100", 1, 1);
  EXPECT_EQ(o.code, 0) << o.err;
  return o.words.size() == 1 ? o.words[0] : 0xdeadbeefu;
}

/// The high or low word of the f64 in %d3.
std::uint32_t word_of_f64(const std::string& code, bool high) {
  return word(code + "shr.u64 %d4, %d3, " + (high ? "32" : "0") + "; cvt.u32.u64 %r10, %d4;");
}

// Each word has an operation of its own: the low one decides whether the low one is zero.
TEST(chip_values, a_word_of_a_64_bit_logic_operation_is_compared_with_zero) {
  const std::pair<const char*, std::uint32_t> rows[] = {
      {"0x0006000000000000", 0}, {"0x000a000000000000", 1}, {"0x0002000000000001", 0}, {"0x0000000000000001", 0}};
  for (const auto& [value, equal] : rows)
    EXPECT_EQ(equal, word(std::string("cvt.u64.u32 %d1, %r2; add.u64 %d0, %d1, ") + value +
                          "; and.b64 %d2, %d0, 0x0007ffffffffffff; setp.eq.s64 %p1, %d2, 0x0002000000000000; "
                          "selp.b32 %r10, 1, 0, %p1;"))
        << value;
}

TEST(chip_values, additions_of_floats_flush_subnormals_in_global_memory_and_not_in_shared) {
  const std::string cells = ".global .align 4 .b32 g = 1;\n.shared .align 4 .b32 s;\n";
  EXPECT_EQ(0u,
            word("mov.b32 %f1, 1; red.global.add.f32 [g], %f1; membar.gl; ld.volatile.global.u32 %r10, [g];", cells));
  EXPECT_EQ(2u, word("mov.b32 %f1, 1; mov.u32 %r3, 1; st.shared.u32 [s], %r3; atom.shared.add.f32 %f2, [s], %f1; "
                     "ld.shared.u32 %r10, [s];",
                     cells));
  EXPECT_EQ(1u, word("mov.b32 %f1, 1; atom.global.add.f32 %f2, [g], %f1; mov.b32 %r10, %f2;", cells)) << "as it was";
  EXPECT_EQ(0x00800000u, word("mov.b32 %f1, 0x00800000; red.global.add.f32 [g], %f1; membar.gl; "
                              "ld.volatile.global.u32 %r10, [g];",
                              cells))
      << "the subnormal counts as zero";
}

TEST(chip_values, a_nan_keeps_its_payload_in_double_precision) {
  const std::string widened = "add.u32 %r3, %r2, 0x7f800001; mov.b32 %f1, %r3; ";
  const std::string convert = widened + "cvt.f64.f32 %d3, %f1; ";
  EXPECT_EQ(0x7ff80000u, word_of_f64(convert, true));
  EXPECT_EQ(0x20000000u, word_of_f64(convert, false));
  const std::string sum =
      "cvt.u64.u32 %d1, %r2; add.u64 %d1, %d1, 0x7ff0000020000000; mov.u64 %d2, 0x3ff0000000000000; ";
  for (const char* operation :
       {"add.f64 %d3, %d1, %d2; ", "mul.f64 %d3, %d2, %d1; ", "fma.rn.f64 %d3, %d2, %d2, %d1; "}) {
    EXPECT_EQ(0x7ff80000u, word_of_f64(sum + operation, true)) << operation;
    EXPECT_EQ(0x20000000u, word_of_f64(sum + operation, false)) << operation;
  }
}

TEST(chip_values, a_nan_becomes_tf32) {
  const std::string nan = "add.u32 %r3, %r2, 0xffc12345; mov.b32 %f1, %r3; cvt.";
  EXPECT_EQ(0xffc12000u, word(nan + "rna.tf32.f32 %r10, %f1;"));
  const outcome o =
      run(".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
          ".reg .b32 %r; .reg .f32 %f; .reg .b64 %o; ld.param.u64 %o, [out]; mov.b32 %f, 0xffc12345;\n"
          "cvt.rn.tf32.f32 %r, %f; st.global.u32 [%o], %r; ret;\n}\n",
          "h100", 1, 1);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.words, (std::vector<std::uint32_t>{0x7fffe000u}));
}

}  // namespace chip_values_test

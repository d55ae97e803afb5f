// SPDX-License-Identifier: MIT
// Floating-point operations of machine instructions.
#include "heddle/isa/flops.h"

#include <gtest/gtest.h>

#include "heddle/isa/matrix.h"

namespace flops_test {

using namespace heddle::isa;

flops of(opcode op, dtype type = dtype::none) {
  program p;
  instruction i;
  i.op = op;
  i.type = type;
  p.code = {i};
  return flops_of(p, 0);
}

TEST(flops, of_lanes) {
  EXPECT_EQ(of(opcode::ffma).of_lane, 2u);
  EXPECT_EQ(of(opcode::fadd).of_lane, 1u);
  EXPECT_EQ(of(opcode::dfma).unit, flop_unit::fp64);
  EXPECT_EQ(of(opcode::hfma2, dtype::f16x2).of_lane, 4u);
  EXPECT_EQ(of(opcode::hfma2, dtype::f16).of_lane, 2u);
  EXPECT_EQ(of(opcode::fmnmx).unit, flop_unit::none);
  EXPECT_EQ(of(opcode::iadd3).unit, flop_unit::none);
}

TEST(flops, of_traced_instructions_follow_from_what_the_trace_has) {
  program p;
  p.code.resize(2);
  p.timing = {op_class::fp32_add, op_class::half_add};
  p.flops = {flop_rule::fused, flop_rule::none};
  EXPECT_EQ(flops_of(p, 0).of_lane, 2u);
  EXPECT_EQ(flops_of(p, 0).unit, flop_unit::fp32);
  EXPECT_EQ(flops_of(p, 1).unit, flop_unit::none);
}

TEST(flops, of_products_of_matrices) {
  program p;
  instruction i;
  i.op = opcode::hmma;
  i.type = dtype::f32;
  i.src_type = dtype::f16;
  i.sub = static_cast<std::uint8_t>(matrix_shape::m16n8k16);
  p.code = {i};
  EXPECT_EQ(flops_of(p, 0).of_warp, 2u * 16 * 8 * 16);
  EXPECT_EQ(flops_of(p, 0).unit, flop_unit::tensor);
  EXPECT_EQ(of(opcode::imma).unit, flop_unit::none);
}

}  // namespace flops_test

// SPDX-License-Identifier: MIT
#include "heddle/isa/flops.h"

#include "heddle/isa/matrix.h"

namespace heddle::isa {

namespace {

std::uint32_t warpgroup_multiply_adds(const instruction& i) {
  const unsigned bits = i.op == opcode::qgmma ? 8 : i.src_type == dtype::b32 ? 32 : 16;
  return gmma::rows * columns_of(i) * (gmma::depth_bytes * 8 / bits) * (i.sub & gmma::sparse ? 2 : 1);
}

// Operations of a lane: those of one number, of two in a register if they are packed.
flops of_lanes(const instruction& i, unit where, std::uint32_t of_number) {
  switch (where) {
    case unit::fp32: return {flop_unit::fp32, of_number, 0};
    case unit::fp64: return {flop_unit::fp64, of_number, 0};
    case unit::half: {
      const bool packed = i.type != dtype::f16 && i.type != dtype::bf16;
      return {flop_unit::half, packed ? 2 * of_number : of_number, 0};
    }
    case unit::integer:
    case unit::sfu:
    case unit::tensor:
    case unit::ldst:
    case unit::branch:
    case unit::texture:
    case unit::count: break;
  }
  return {};
}

}  // namespace

flops flops_of(const program& p, std::size_t index) {
  const instruction& i = p.code[index];
  const flop_rule rule = index < p.flops.size() ? p.flops[index] : info(i.op).flops;
  const unit where = unit_of(index < p.timing.size() ? p.timing[index] : info(i.op).timing);
  switch (rule) {
    case flop_rule::none: break;
    case flop_rule::one: return of_lanes(i, where, 1);
    case flop_rule::fused: return of_lanes(i, where, 2);
    case flop_rule::product: return {flop_unit::tensor, 0, 2 * multiply_adds(i)};
    case flop_rule::group: return {flop_unit::tensor, 0, 2 * warpgroup_multiply_adds(i)};
  }
  return {};
}

}  // namespace heddle::isa

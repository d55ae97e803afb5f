// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"

namespace heddle::ptx {

/// Division, reciprocal and square root of floating-point numbers as the instruction sequences that chips issue: a
/// reciprocal from the special function unit, Newton steps on fused multiply-adds, one residual correction that rounds
/// exactly (Markstein, "Computation of elementary functions on the IBM RISC System/6000", 1990), and ASSIST for the
/// operands that a test of their exponents detects. split_at_slow_paths() puts the ASSIST behind a branch.
class divide_selector {
 public:
  divide_selector(const operand_reader& in, code_writer& out) : in_(in), out_(out) {}

  void divide();
  void reciprocal();
  void square_root();

 private:
  void divide_f32();
  void divide_f32_approx();
  void divide_f64();
  void reciprocal_f64_core(register_part r, virtual_operand a, register_part start);
  std::uint32_t compare_magnitude(virtual_operand word, isa::compare c, std::uint64_t bits, virtual_predicate with);
  register_part scaled(const virtual_operand& o);
  virtual_operand without_sign(const virtual_operand& o);
  std::uint32_t out_of_root_range(register_part moved, virtual_operand bits, std::uint64_t least, std::uint64_t end);
  std::uint32_t square_root_f32(register_part r, virtual_operand a);
  std::uint32_t square_root_f64(register_part r, virtual_operand a);

  const operand_reader& in_;
  code_writer& out_;
};

}  // namespace heddle::ptx

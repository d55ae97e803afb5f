// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/expansion.h"
#include "heddle/frontend/ptx/resolve/operand_checker.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// Integer instructions that chips execute as several instructions: cvt.pack, pairs of 16-bit integers, fns.
class integer_translator {
 public:
  integer_translator(block_builder& code, operand_resolver& in, const operand_checker& checker)
      : code_(code), in_(in), checker_(checker) {}

  /// Instructions with modifiers::packed_bits.
  void packed_integers(const hir_instruction& h, const ast_instruction& i);
  void find_nth_set(const hir_instruction& h, const ast_instruction& i);

 private:
  void pack_saturated(const hir_instruction& h, const ast_instruction& i);
  void pair_of_halves(const hir_instruction& h, const ast_instruction& i);

  block_builder& code_;
  operand_resolver& in_;
  const operand_checker& checker_;
};

}  // namespace heddle::ptx

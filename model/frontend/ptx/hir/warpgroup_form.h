// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/isa/instruction.h"

namespace heddle::ptx {

enum class warpgroup_action : std::uint8_t { multiply, fence, commit, wait, increase, decrease };

/// The decoded words and immediate operands of wgmma and setmaxnreg.
struct warpgroup_form {
  warpgroup_action what = warpgroup_action::multiply;
  unsigned n = 0, k = 0;  // m is 64
  unsigned types = 0;
  isa::dtype type[3] = {};  // d, a, b; tf32 becomes b32
  bool sparse = false;
  bool saturate = false;
  bool counts_bits = false;  // .and.popc
  // Operands:
  unsigned number = 0;    // groups that may be incomplete, or registers
  unsigned selector = 0;  // of the metadata's lanes
  bool a_shared = false, a_transposed = false, b_transposed = false, a_negated = false, b_negated = false;

  /// 32-bit registers of d.
  [[nodiscard]] unsigned accumulators() const { return type[0] == isa::dtype::f16 ? n / 4 : n / 2; }
  /// How many immediate operands follow the predicate that says whether d is added.
  [[nodiscard]] unsigned immediates() const;
};

/// Decodes the words. Throws input_error for words that ptxas does not accept.
warpgroup_form decode_warpgroup_form(const ast_instruction& i, const std::string& file);

}  // namespace heddle::ptx

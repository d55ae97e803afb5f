// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/isa/instruction.h"

namespace heddle::ptx {

/// The decoded words of wmma, mma, ldmatrix, stmatrix and movmatrix.
struct matrix_form {
  enum class action : std::uint8_t { load, store, multiply };
  action what = action::multiply;
  char which = 'd';  // wmma.load, wmma.store: the matrix a, b, c or d
  unsigned m = 0, n = 0, k = 0;
  unsigned layouts = 0;  // number of given layouts: of the matrix, or of a and b
  bool column_major[2] = {false, false};
  unsigned types = 0;
  isa::dtype type[4] = {};  // in the order written: d, a, b, c; tf32 becomes b32
  bool saturate = false;
  isa::rounding round = isa::rounding::rn;
  bool rounded = false;  // a rounding mode was given
  bool transposed = false;
  bool sparse = false;                       // mma.sp
  bool counts_bits = false, differ = false;  // .popc; of .xor
  unsigned selector = 0;                     // mma.sp: which lanes' metadata counts
  unsigned count = 1;                        // ldmatrix, stmatrix: .x1 .x2 .x4
  state_space space = state_space::none;

  [[nodiscard]] bool is_shape(unsigned rows, unsigned columns, unsigned depth) const {
    return m == rows && n == columns && k == depth;
  }
};

/// Decodes the words. Throws input_error for an unknown word, such as a type that Heddle's tensor units do not
/// support.
matrix_form decode_matrix_form(const ast_instruction& i, const std::string& file);

}  // namespace heddle::ptx

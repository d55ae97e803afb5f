// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "float_format.h"
#include "heddle/frontend/ptx/syntax/ast.h"
#include "word.h"

namespace heddle::conformance {

/// The decoded words of an instruction.
struct scalar_operation {
  explicit scalar_operation(const ptx::ast_instruction& i);
  scalar_operation() = default;

  template <std::size_t N>
  [[nodiscard]] bool has(const char (&literal)[N]) const {
    for (const word& w : words)
      if (w == literal) return true;
    return false;
  }
  [[nodiscard]] bool has_word(std::string_view text) const;

  word name;         // "add"
  std::string text;  // "add.rn.f32"
  std::vector<word> words;
  isa::dtype type = isa::dtype::none, type2 = isa::dtype::none;  // in the order written; type2 = type when there is one
  direction round = direction::nearest_even;
  bool integral = false;  // .rni .rzi .rmi .rpi
  bool ftz = false, sat = false, relu = false, finite = false, approx = false, full = false, hi = false, lo = false,
       wide = false, cc = false, nan = false;
  word compare;  // "lt", "geu", …
  word combine;  // "and", "or", "xor" of setp and set
  unsigned vector = 1;
  struct part {  // selector of a video operand: "h0", "b3210"; "": the default
    std::string places;
    bool negate = false;
  };
  std::vector<part> parts;  // of all operands, if at least one has a selector or a sign
};

/// Thrown for instructions that the reference does not support.
struct reference_limit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

unsigned bits_of(isa::dtype t);
/// v truncated to the width of the type.
std::uint64_t truncated(isa::dtype t, std::uint64_t v);
/// The same, extended to 64 bits according to the type's signedness.
std::uint64_t extended(isa::dtype t, std::uint64_t v);
bool is_packed(isa::dtype t);
/// The type of a packed type's halves; for other types the type itself.
isa::dtype half_of(isa::dtype t);

/// Results of a computing instruction. Predicates are 0 or 1.
struct scalar_result {
  std::uint64_t value = 0;
  std::uint64_t second = 0;  // the other predicate of setp; 1 = in range of shfl
};

/// Executes an arithmetic, logic, comparison or conversion instruction. `carry` is CC.CF. Throws reference_limit.
/// Approximate instructions return the exact result, rounded to nearest.
scalar_result evaluate(const scalar_operation& o, const std::uint64_t* s, unsigned count, bool& carry);

bool evaluate_integer(const scalar_operation& o, const std::uint64_t* s, unsigned count, bool& carry,
                      std::uint64_t& result);
bool evaluate_bits(const scalar_operation& o, const std::uint64_t* s, unsigned count, std::uint64_t& result);
bool evaluate_float(const scalar_operation& o, const std::uint64_t* s, unsigned count, std::uint64_t& result);
std::uint64_t evaluate_conversion(const scalar_operation& o, const std::uint64_t* s, unsigned count);
/// vadd and similar instructions, with and without 2 or 4; false for all others.
bool evaluate_video(const scalar_operation& o, const std::uint64_t* s, unsigned count, std::uint64_t& result);
/// add.f32x2 and similar instructions, cvt with pairs of 8-bit floats; false for all others.
bool evaluate_pairs(const scalar_operation& o, const std::uint64_t* s, unsigned count, std::uint64_t& result);
bool evaluate_comparison(const scalar_operation& o, isa::dtype t, std::uint64_t a, std::uint64_t b);
/// The value that an atomic writes to memory.
std::uint64_t evaluate_atomic(const scalar_operation& o, std::uint64_t old, std::uint64_t b, std::uint64_t c);

}  // namespace heddle::conformance

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/isa/opcode.h"

namespace heddle::conformance {

/// The maximum deviation of a result from the exact one, as specified by the ISA.
struct tolerance {
  enum class kind : std::uint8_t { bits, ulp, relative, absolute, logarithm };
  kind what = kind::bits;
  double bound = 0;
  isa::dtype type = isa::dtype::none;  // floating-point type of the result: NaN equals NaN (f64: with any payload)
};

/// One or a few instructions that compute one result from the operands of a row.
///
/// The code reads %d0..%d3 (64 bits), %r0..%r3 (their low words), %h0..%h3 (their low halves) and %b0..%b3 (their low
/// bits as predicates), writes %o (64 bits), %q (32 bits), %g (16 bits) or %c (predicate), as `result_bits` says (1 =
/// predicate).
struct conformance_case {
  std::string family;
  std::string name;
  std::string code;
  unsigned operands = 1;  // number of varying columns
  unsigned operand_bits = 32;
  unsigned result_bits = 32;
  tolerance allowed;
  bool divides = false;       // the second operand must not be 0
  std::vector<double> range;  // approximate instructions: range of the operands as f32
};

/// Adds a case to `all` and returns it, so that further members can be set.
conformance_case& add_case(std::vector<conformance_case>& all, const std::string& family, const std::string& name,
                           const std::string& code, unsigned operands, unsigned operand_bits, unsigned result_bits);

/// Every instruction with every type, rounding and modifier.
std::vector<conformance_case> all_families();
/// Instructions that only GPUs of compute capability 8.0 and later have.
std::vector<conformance_case> later_families();
/// Forms that compilers rarely emit.
std::vector<conformance_case> rare_families();
/// Integer instructions with constant operands.
std::vector<conformance_case> constant_families();
/// vadd, vmad, vset, vadd2, vadd4 and so on, on whole operands and parts of them.
std::vector<conformance_case> video_families();

/// True if the ISA allows this result when `expected` is the exact result rounded to nearest.
bool agrees(const tolerance& t, std::uint64_t got, std::uint64_t expected);

/// A module with one kernel per case, "k0", "k1", …: (in: 32 bytes per thread, out: 8 bytes per thread).
std::string module_of(const std::vector<conformance_case>& cases);

/// Operand rows of four 64-bit numbers for a case: edges crossed, then random.
std::vector<std::uint64_t> rows_of(const conformance_case& c, unsigned rows);

}  // namespace heddle::conformance

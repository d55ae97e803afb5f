// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/instruction.h"

// Sums of products of floats as tensor units compute them. The addend and a number of exact products form one sum. The
// largest exponent of the addend and of the products that are not zero is that of the sum (a product's is the sum of
// its factors' exponents, of which subnormal numbers have the least of their type). Each term is cut after a number of
// fraction bits relative to it, towards zero; what is left is added exactly. An f32 result is cut, too, to 24 bits or
// to as many as a term has; an f16 one rounds to nearest even. Source: measurements on an H100, tests/hardware/tensor;
// for other chips Xie et al. 2025, arXiv:2511.10909, and Khattak and Mikaitis 2025, arXiv:2512.07004.

namespace heddle::simt {

/// Rows of a, columns of b and accumulators. What lies beyond `depth` is not read.
struct product_tile {
  static constexpr unsigned rows = 16, depth = 64, columns = 64;
  std::uint32_t a[rows][depth];                 // bits of elements
  alignas(64) std::uint32_t b[depth][columns];  // bits of elements: k, column
  alignas(64) float d[rows][columns];           // c, then d; f16 values are exact in it
};

/// One instruction's work on a tile.
struct product_sums {
  isa::dtype a_type, b_type;
  unsigned rows, columns, depth;  // columns: a multiple of 8
  unsigned products;              // along k that form one sum
  unsigned fraction_bits;         // that a term keeps, at most 25
  bool to_f16;                    // accumulators are f16
  bool a_negated;
  bool as_halves;  // 8-bit floats are converted to f16, with its exponents
};

/// The accumulators of `t` become the sums. NaN results are positive quiet ones.
void add_products(product_tile& t, const product_sums& s);

namespace baseline {
void add_products(product_tile& t, const product_sums& s);
}
#if defined(HEDDLE_SIMT_AVX2)
namespace avx2 {
void add_products(product_tile& t, const product_sums& s);
}
#endif

}  // namespace heddle::simt

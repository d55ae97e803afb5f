// SPDX-License-Identifier: MIT
// Matrix instructions. The layouts are those of mma.sync in the PTX ISA; group = lane / 4, member = lane % 4. Lanes
// outside the mask contribute their registers but receive no result.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "heddle/isa/matrix.h"
#include "heddle/simt/scalar/memory_access.h"
#include "heddle/simt/scalar/soft_float.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/tensor/elements.h"
#include "heddle/simt/tensor/product_sums.h"
#include "heddle/simt/tensor/sparse_places.h"
#include "heddle/simt/tensor/warpgroup.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::dtype;
using isa::instruction;
using isa::matrix_shape;

/// The registers of one operand on all lanes.
struct registers {
  const std::uint32_t* word[4];
  registers(const isa::operand& o, const warp_state& w, std::uint32_t (*scratch)[warp_size]) {
    for (unsigned k = 0; k < 4; ++k) word[k] = fetch(o, w, scratch[k], k);
  }
  [[nodiscard]] std::uint32_t half(unsigned element, unsigned lane) const {
    return word[element / 2][lane] >> (element % 2 * 16) & 0xffff;
  }
  [[nodiscard]] double wide(unsigned element, unsigned lane) const {
    return as_double(word[2 * element][lane] | std::uint64_t{word[2 * element + 1][lane]} << 32);
  }
};

double rounded_sum(const instruction& i, double x, double y) {
  return i.type == dtype::f32 ? from_f32(to_f32(static_cast<float>(x) + static_cast<float>(y)))
                              : from_f16(to_f16(x + y));
}

float accumulator(const instruction& i, const registers& r, unsigned element, unsigned lane) {
  return static_cast<float>(i.type == dtype::f32 ? from_f32(r.word[element][lane]) : from_f16(r.half(element, lane)));
}

constexpr unsigned most_depth = 64;

template <class Value>
struct factors {
  Value a[16][most_depth];  // row, k
  Value b[8][most_depth];   // column, k
};

/// Reads a and b. A register holds elements that follow each other along k; the four lanes of a group hold those of a
/// row, and the registers the rows 8 further on, then the next elements.
template <class Value, class Convert>
void read_factors(const instruction& i, const warp_state& w, const registers& a, const registers& b, factors<Value>& f,
                  Convert convert) {
  const isa::matrix_size size = isa::size_of(isa::shape_of(i));
  const bool sparse = (i.sub & isa::matrix::sparse) != 0;
  // Shapes of elements below 8 bits are named by their bytes.
  const unsigned bits = element_bits(i.src_type), width = std::max(bits, bits == 1 ? 8u : 4u), run = 32 / width,
                 stored = bits < 8 ? size.k * 8 / width : size.k, depth = stored * (sparse ? 2 : 1),
                 halves = size.m / 8;
  const unsigned a_words = stored / (4 * run) * halves, b_words = depth / (4 * run);
  const dtype b_type = i.sub & isa::matrix::b_other_sign ? other_of(i.src_type) : i.src_type;
  const auto element = [&](std::uint32_t word, unsigned e) {
    return width == 32 ? word : word >> (e * width) & ((1u << width) - 1);
  };
  alignas(64) std::uint32_t scratch[warp_size];
  const sparse_places places(fetch(i.src[0], w, scratch, a_words), i.src_type, stored, static_cast<unsigned>(i.cmp));
  if (sparse) f = {};
  for (unsigned l = 0; l < warp_size; ++l)
    for (unsigned e = 0; e < run; ++e) {
      const unsigned group = l / 4, within = l % 4 * run + e;
      for (unsigned q = 0; q < a_words; ++q) {
        const unsigned row = group + q % halves * 8, k = q / halves * 4 * run + within;
        f.a[row][sparse ? places(row, k) : k] = convert(i.src_type, element(a.word[q][l], e));
      }
      for (unsigned q = 0; q < b_words; ++q)
        f.b[group][q * 4 * run + within] = convert(b_type, element(b.word[q][l], e));
    }
}

/// Writes element(e, lane) of the result: four f32 or four f16.
template <class F>
void write_result(const instruction& i, warp_state& w, lane_mask mask, unsigned elements, F element) {
  alignas(64) std::uint32_t d[warp_size];
  if (i.type == dtype::f32) {
    for (unsigned e = 0; e < elements; ++e) {
      for (unsigned l = 0; l < warp_size; ++l) d[l] = to_f32(element(e, l));
      write_lanes(i, w, mask, d, e);
    }
    return;
  }
  for (unsigned e = 0; e < elements; e += 2) {
    for (unsigned l = 0; l < warp_size; ++l) d[l] = to_f16(element(e, l)) | to_f16(element(e + 1, l)) << 16;
    write_lanes(i, w, mask, d, e / 2);
  }
}

/// Elements of a row of a and a column of b, with those that sparsity leaves out; of single bits, bytes.
unsigned depth_of(const instruction& i) {
  const unsigned k = isa::size_of(isa::shape_of(i)).k, bits = element_bits(i.src_type);
  return k * (bits == 4 ? 2 : 1) * (i.sub & isa::matrix::sparse ? 2 : 1);
}

product_sums sums_of(const instruction& i, unsigned rows, unsigned depth) {
  const dtype b = i.sub & isa::matrix::b_other_sign ? other_of(i.src_type) : i.src_type;
  const unsigned products = i.sum_products * (i.sub & isa::matrix::sparse ? 2u : 1u);
  return {i.src_type, b, rows, 8, depth, products, i.sum_fraction_bits, i.type == dtype::f16, false, i.wide};
}

/// Chips without a unit for 8-bit floats: elements 0 and 1 of each four along k as f16, then the others, then c.
void multiply_as_halves(const instruction& i, product_tile& t, unsigned depth) {
  float c[16][8];
  product_tile part;
  for (unsigned r = 0; r < 16; ++r)
    for (unsigned n = 0; n < 8; ++n) {
      c[r][n] = t.d[r][n];
      part.d[r][n] = 0;
    }
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned k = 0; k < depth / 2; ++k) {
      const unsigned from = k / 2 * 4 + 2 * half + k % 2;
      for (unsigned r = 0; r < 16; ++r) part.a[r][k] = t.a[r][from];
      for (unsigned n = 0; n < 8; ++n) part.b[k][n] = t.b[from][n];
    }
    add_products(part, sums_of(i, 16, depth / 2));
  }
  for (unsigned r = 0; r < 16; ++r)
    for (unsigned n = 0; n < 8; ++n) t.d[r][n] = static_cast<float>(rounded_sum(i, part.d[r][n], c[r][n]));
}

void hmma(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t scratch[3][4][warp_size];
  const registers a(i.src[0], w, scratch[0]), b(i.src[1], w, scratch[1]), c(i.src[2], w, scratch[2]);
  factors<std::uint32_t> f;
  read_factors(i, w, a, b, f, [](dtype, std::uint32_t bits) { return bits; });
  const unsigned depth = depth_of(i);
  product_tile t;
  for (unsigned r = 0; r < 16; ++r) std::copy_n(f.a[r], depth, t.a[r]);
  for (unsigned n = 0; n < 8; ++n)
    for (unsigned k = 0; k < depth; ++k) t.b[k][n] = f.b[n][k];
  const auto sum = [&](unsigned e, unsigned l) -> float& { return t.d[l / 4 + e / 2 * 8][l % 4 * 2 + e % 2]; };
  for (unsigned l = 0; l < warp_size; ++l)
    for (unsigned e = 0; e < 4; ++e) sum(e, l) = accumulator(i, c, e, l);
  if (i.wide) multiply_as_halves(i, t, depth);
  else add_products(t, sums_of(i, 16, depth));
  write_result(i, w, mask, 4, sum);
}

/// Four products of 8x4 and 4x8. Quad pair q consists of lanes 4q to 4q+3 and 4q+16 to 4q+19.
void hmma_884(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t scratch[3][4][warp_size];
  const registers a(i.src[0], w, scratch[0]), b(i.src[1], w, scratch[1]), c(i.src[2], w, scratch[2]);
  const bool f32 = i.type == dtype::f32, a_col = i.sub & isa::matrix::a_col, b_row = i.sub & isa::matrix::b_row;
  const unsigned first = i.sub & isa::matrix::upper ? 4 : 0;  // column of the first result
  const unsigned elements = f32 ? 4 : 8;
  const auto row = [&](unsigned e, unsigned l) { return (f32 ? (l & 1) + (e & 2) : l & 3) + (l < 16 ? 0 : 4); };
  const auto column = [&](unsigned e, unsigned l) { return f32 ? first + (l & 2) + (e & 1) : e; };
  product_tile t[4];
  for (product_tile& q : t)
    for (unsigned r = 0; r < 8; ++r) std::fill_n(q.d[r], 8, 0.0f);  // an f32 instruction has half of the columns
  for (unsigned l = 0; l < warp_size; ++l) {
    product_tile& q = t[l % 16 / 4];
    const unsigned within = l & 3, half = l < 16 ? 0 : 4;
    for (unsigned e = 0; e < 4; ++e) {
      (a_col ? q.a[e + half][within] : q.a[within + half][e]) = a.half(e, l);
      (b_row ? q.b[within][e + half] : q.b[e][within + half]) = b.half(e, l);
    }
    for (unsigned e = 0; e < elements; ++e) q.d[row(e, l)][column(e, l)] = accumulator(i, c, e, l);
  }
  for (product_tile& q : t) {
    add_products(q, {dtype::f16, dtype::f16, 8, 8, 4, i.sum_products, i.sum_fraction_bits, !f32, false, false});
  }
  write_result(i, w, mask, elements, [&](unsigned e, unsigned l) { return t[l % 16 / 4].d[row(e, l)][column(e, l)]; });
}

/// Integers, and of single bits (BMMA) the number of those that are one in the two, or differ.
void imma(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t scratch[3][4][warp_size], d[warp_size];
  const registers a(i.src[0], w, scratch[0]), b(i.src[1], w, scratch[1]), c(i.src[2], w, scratch[2]);
  factors<int> f;
  const bool single = i.src_type == dtype::b1, differ = (i.sub & isa::matrix::exclusive) != 0;
  read_factors(i, w, a, b, f,
               [&](dtype t, std::uint32_t bits) { return single ? static_cast<int>(bits) : integer_value(t, bits); });
  const auto product = [&](int x, int y) {
    return single ? __builtin_popcount(static_cast<unsigned>(differ ? x ^ y : x & y)) : x * y;
  };
  const unsigned halves = isa::size_of(isa::shape_of(i)).m / 8, depth = depth_of(i);
  for (unsigned e = 0; e < 2 * halves; ++e) {
    for (unsigned l = 0; l < warp_size; ++l) {
      std::int64_t sum = static_cast<std::int32_t>(c.word[e][l]);
      for (unsigned k = 0; k < depth; ++k) sum += product(f.a[l / 4 + e / 2 * 8][k], f.b[l % 4 * 2 + e % 2][k]);
      if (i.saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      d[l] = static_cast<std::uint32_t>(sum);
    }
    write_lanes(i, w, mask, d, e);
  }
}

/// Fused multiply-adds in the order of k.
void dmma(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t scratch[3][4][warp_size], low[warp_size], high[warp_size];
  const registers a(i.src[0], w, scratch[0]), b(i.src[1], w, scratch[1]), c(i.src[2], w, scratch[2]);
  double result[2][warp_size];
  const bool nearest = i.round == isa::rounding::rn;
  for (unsigned l = 0; l < warp_size; ++l)
    for (unsigned e = 0; e < 2; ++e) {
      double sum = c.wide(e, l);
      for (unsigned k = 0; k < 4; ++k) {
        const double x = a.wide(0, l / 4 * 4 + k), y = b.wide(0, (l % 4 * 2 + e) * 4 + k);
        sum = nearest ? std::fma(x, y, sum) : as_double(fma_f64(as_bits(x), as_bits(y), as_bits(sum), i.round, false));
      }
      result[e][l] = sum;
    }
  for (unsigned e = 0; e < 2; ++e) {
    for (unsigned l = 0; l < warp_size; ++l) {
      const std::uint64_t bits = result[e][l] != result[e][l] ? nan_f64 : as_bits(result[e][l]);
      low[l] = static_cast<std::uint32_t>(bits);
      high[l] = static_cast<std::uint32_t>(bits >> 32);
    }
    write_lanes(i, w, mask, low, 2 * e);
    write_lanes(i, w, mask, high, 2 * e + 1);
  }
}

void movm(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t scratch[warp_size], d[warp_size];
  const std::uint32_t* a = fetch(i.src[0], w, scratch);
  const auto element = [&](unsigned row, unsigned column) {
    return a[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
  };
  for (unsigned l = 0; l < warp_size; ++l) d[l] = element(l % 4 * 2, l / 4) | element(l % 4 * 2 + 1, l / 4) << 16;
  write_lanes(i, w, mask, d);
}

}  // namespace

lane_mask matrix_rows(const instruction& i) {
  const unsigned rows = (i.sub & isa::matrix::count_mask) * 8;
  return rows >= warp_size ? all_lanes : (1u << rows) - 1;
}

void load_matrices(const instruction& i, warp_state& w, lane_mask mask, const std::uint64_t addresses[warp_size]) {
  alignas(64) std::uint32_t d[4][warp_size];
  const unsigned count = i.sub & isa::matrix::count_mask;
  for (unsigned k = 0; k < count; ++k)
    for (unsigned l = 0; l < warp_size; ++l) {
      const auto element = [&](unsigned row, unsigned column) {
        std::uint16_t v;
        std::memcpy(&v, w.block->shared + addresses[8 * k + row] + 2 * column, sizeof v);
        return std::uint32_t{v};
      };
      const unsigned row = l / 4, column = l % 4 * 2;
      d[k][l] = i.sub & isa::matrix::transposed ? element(column, row) | element(column + 1, row) << 16
                                                : element(row, column) | element(row, column + 1) << 16;
    }
  for (unsigned k = 0; k < count; ++k) write_lanes(i, w, mask, d[k], k);
}

execute_function select_tensor(const instruction& i) {
  switch (i.op) {
    case isa::opcode::hmma: return isa::shape_of(i) == matrix_shape::m8n8k4 ? hmma_884 : hmma;
    case isa::opcode::imma:
    case isa::opcode::bmma: return imma;
    case isa::opcode::dmma: return dmma;
    case isa::opcode::movm: return movm;
    case isa::opcode::hgmma:
    case isa::opcode::qgmma:
    case isa::opcode::igmma:
    case isa::opcode::bgmma: return warpgroup_product;
    default: return nullptr;
  }
}

}  // namespace heddle::simt

// SPDX-License-Identifier: MIT
// Matrix instructions. The layouts are those of mma.sync in the PTX ISA; group = lane / 4, member = lane % 4. Lanes
// outside the mask contribute their registers but receive no result.
#include <cmath>
#include <cstring>

#include "heddle/isa/matrix.h"
#include "heddle/simt/scalar/memory_access.h"
#include "heddle/simt/scalar/soft_float.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::dtype;
using isa::instruction;
using isa::matrix_shape;

std::uint64_t bits_of(double d) {
  std::uint64_t bits;
  std::memcpy(&bits, &d, sizeof bits);
  return bits;
}

double double_of(std::uint64_t bits) {
  double d;
  std::memcpy(&d, &bits, sizeof d);
  return d;
}

/// The registers of one operand on all lanes.
struct registers {
  const std::uint32_t* word[4];
  registers(const isa::operand& o, const warp_state& w, std::uint32_t (*scratch)[warp_size]) {
    for (unsigned k = 0; k < 4; ++k) word[k] = fetch(o, w, scratch[k], k);
  }
  [[nodiscard]] std::uint32_t half(unsigned element, unsigned lane) const {
    return word[element / 2][lane] >> (element % 2 * 16) & 0xffff;
  }
  [[nodiscard]] std::uint32_t byte(unsigned element, unsigned lane) const {
    return word[element / 4][lane] >> (element % 4 * 8) & 0xff;
  }
  [[nodiscard]] double wide(unsigned element, unsigned lane) const {
    return double_of(word[2 * element][lane] | std::uint64_t{word[2 * element + 1][lane]} << 32);
  }
};

double from_f32(std::uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

double from_f16(std::uint32_t h) {
  const std::uint64_t sign = std::uint64_t{h >> 15} << 63, mantissa = h & 0x3ff;
  const unsigned exponent = h >> 10 & 31;
  if (exponent == 0) {
    const double d = static_cast<double>(mantissa) * 0x1p-24;
    return sign ? -d : d;
  }
  return double_of(sign | (exponent == 31 ? std::uint64_t{0x7ff} : std::uint64_t{exponent} + 1008) << 52 |
                   mantissa << 42);
}

std::uint32_t to_f32(double d) {
  const float f = static_cast<float>(d);
  std::uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return f != f ? nan_f32 : bits;
}

std::uint32_t to_f16(double d) {
  return static_cast<std::uint32_t>(round_double(format_f16, d, isa::rounding::rn, nan_f16));
}

/// An element of HMMA's a and b: 16 bits, or tf32 in 32 bits (the bits beyond tf32's precision are ignored).
double input(const instruction& i, const registers& r, unsigned element, unsigned lane) {
  if (i.src_type == dtype::f16) return from_f16(r.half(element, lane));
  if (i.src_type == dtype::bf16) return from_f32(r.half(element, lane) << 16);
  return from_f32(r.word[element][lane] & 0xffffe000u);
}

double accumulator(const instruction& i, const registers& r, unsigned element, unsigned lane) {
  return i.type == dtype::f32 ? from_f32(r.word[element][lane]) : from_f16(r.half(element, lane));
}

double rounded(const instruction& i, double d) {
  return i.type == dtype::f32 ? from_f32(to_f32(d)) : from_f16(to_f16(d));
}

struct tiles {
  double a[16][16];  // row, k
  double b[8][16];   // column, k
  double c[16][8];   // row, column
};

/// Products are exact. They are added to c in the order of k, in double precision; after every `group` products the sum
/// is rounded to the accumulator's type.
void multiply(const instruction& i, tiles& t, unsigned rows, unsigned columns, unsigned depth, unsigned group) {
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned n = 0; n < columns; ++n) {
      double sum = t.c[r][n];
      for (unsigned k = 0; k < depth; k += group) {
        for (unsigned j = k; j < k + group; ++j) sum += t.a[r][j] * t.b[n][j];
        sum = rounded(i, sum);
      }
      t.c[r][n] = sum;
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

void hmma(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t scratch[3][4][warp_size];
  const registers a(i.src[0], w, scratch[0]), b(i.src[1], w, scratch[1]), c(i.src[2], w, scratch[2]);
  const unsigned depth = isa::size_of(isa::shape_of(i)).k;
  const bool tf32 = i.src_type == dtype::b32;
  const unsigned run = tf32 ? 1 : 2,
                 span = 4 * run;  // consecutive k in a lane; k of one register over the four members
  tiles t;
  for (unsigned l = 0; l < warp_size; ++l) {
    const unsigned group = l / 4, member = l % 4;
    for (unsigned k = 0; k < depth / 4; ++k) {
      const unsigned at = k / run * span + member * run + k % run;
      t.b[group][at] = input(i, b, k, l);
      t.a[group][at] = input(i, a, k / run * 2 * run + k % run, l);
      t.a[group + 8][at] = input(i, a, k / run * 2 * run + run + k % run, l);
    }
    for (unsigned e = 0; e < 4; ++e) t.c[group + e / 2 * 8][member * 2 + e % 2] = accumulator(i, c, e, l);
  }
  multiply(i, t, 16, 8, depth, span);
  write_result(i, w, mask, 4, [&](unsigned e, unsigned l) { return t.c[l / 4 + e / 2 * 8][l % 4 * 2 + e % 2]; });
}

/// Four products of 8x4 and 4x8. Quad pair q consists of lanes 4q to 4q+3 and 4q+16 to 4q+19.
void hmma_884(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t scratch[3][4][warp_size];
  const registers a(i.src[0], w, scratch[0]), b(i.src[1], w, scratch[1]), c(i.src[2], w, scratch[2]);
  const bool f32 = i.type == dtype::f32, a_col = i.sub & isa::matrix::a_col, b_row = i.sub & isa::matrix::b_row;
  const unsigned first = i.sub & isa::matrix::upper ? 4 : 0;  // column of the first result
  const unsigned elements = f32 ? 4 : 8;
  const auto row = [&](unsigned e, unsigned l) { return (f32 ? (l & 1) + (e & 2) : l & 3) + (l < 16 ? 0 : 4); };
  const auto column = [&](unsigned e, unsigned l) { return f32 ? (l & 2) + (e & 1) : e; };
  tiles t[4];
  for (unsigned l = 0; l < warp_size; ++l) {
    tiles& q = t[l % 16 / 4];
    const unsigned within = l & 3, half = l < 16 ? 0 : 4;
    for (unsigned e = 0; e < 4; ++e) {
      (a_col ? q.a[e + half][within] : q.a[within + half][e]) = input(i, a, e, l);
      (b_row ? q.b[e + half][within] : q.b[within + half][e]) = input(i, b, e, l);
    }
    for (unsigned e = 0; e < elements; ++e) q.c[row(e, l)][column(e, l)] = accumulator(i, c, e, l);
  }
  for (tiles& q : t) {
    if (first != 0) std::memmove(q.b, q.b + 4, 4 * sizeof q.b[0]);
    multiply(i, q, 8, f32 ? 4 : 8, 4, 4);
  }
  write_result(i, w, mask, elements, [&](unsigned e, unsigned l) { return t[l % 16 / 4].c[row(e, l)][column(e, l)]; });
}

void imma(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t scratch[3][4][warp_size], d[warp_size];
  const registers a(i.src[0], w, scratch[0]), b(i.src[1], w, scratch[1]), c(i.src[2], w, scratch[2]);
  const isa::matrix_size size = isa::size_of(isa::shape_of(i));
  const bool a_signed = i.src_type == dtype::s8, b_signed = a_signed != ((i.sub & isa::matrix::b_other_sign) != 0);
  const auto value = [](std::uint32_t byte, bool is_signed) {
    return is_signed ? int{static_cast<std::int8_t>(byte)} : static_cast<int>(byte);
  };
  const unsigned halves = size.m / 8;  // rows 0 to 7, and 8 to 15
  int rows[16][32], columns[8][32];
  for (unsigned l = 0; l < warp_size; ++l)
    for (unsigned k = 0; k < size.k / 4; ++k) {
      const unsigned at = k / 4 * 16 + l % 4 * 4 + k % 4;
      columns[l / 4][at] = value(b.byte(k, l), b_signed);
      for (unsigned h = 0; h < halves; ++h)
        rows[l / 4 + 8 * h][at] = value(a.byte((k / 4 * halves + h) * 4 + k % 4, l), a_signed);
    }
  for (unsigned e = 0; e < 2 * halves; ++e) {
    for (unsigned l = 0; l < warp_size; ++l) {
      std::int64_t sum = static_cast<std::int32_t>(c.word[e][l]);
      for (unsigned k = 0; k < size.k; ++k)
        sum += std::int64_t{rows[l / 4 + e / 2 * 8][k]} * columns[l % 4 * 2 + e % 2][k];
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
        sum = nearest ? std::fma(x, y, sum) : double_of(fma_f64(bits_of(x), bits_of(y), bits_of(sum), i.round, false));
      }
      result[e][l] = sum;
    }
  for (unsigned e = 0; e < 2; ++e) {
    for (unsigned l = 0; l < warp_size; ++l) {
      const std::uint64_t bits = result[e][l] != result[e][l] ? nan_f64 : bits_of(result[e][l]);
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
    case isa::opcode::imma: return imma;
    case isa::opcode::dmma: return dmma;
    case isa::opcode::movm: return movm;
    default: return nullptr;
  }
}

}  // namespace heddle::simt

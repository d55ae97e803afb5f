// SPDX-License-Identifier: MIT
// Products of a warpgroup. Each of its four warps computes 16 of the 64 rows, with the accumulators and, if they are in
// registers, the elements of a laid out as those of mma.sync.
#include "heddle/simt/tensor/warpgroup.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/isa/matrix.h"
#include "heddle/simt/tensor/descriptor.h"
#include "heddle/simt/tensor/elements.h"
#include "heddle/simt/tensor/product_sums.h"
#include "heddle/simt/tensor/sparse_places.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::dtype;
using isa::instruction;
namespace gmma = isa::gmma;

constexpr unsigned rows = gmma::rows, most_depth = product_tile::depth, most_columns = 256, warps_of_group = 4;
constexpr unsigned chunk_bytes = 16;

/// What a product reads from shared memory.
class operand_memory {
 public:
  operand_memory(const block_context& block, std::uint64_t bits) : block_(block), bits_(bits) {}

  void read(std::uint64_t address, std::uint8_t (&to)[chunk_bytes]) const {
    if (address + chunk_bytes > block_.shared_bytes) fail(address);
    std::memcpy(to, block_.shared + address, chunk_bytes);
  }

 private:
  [[noreturn]] void fail(std::uint64_t address) const {
    char text[160];
    std::snprintf(
        text, sizeof text,
        "shared memory read of 16 bytes at 0x%llx by matrix descriptor 0x%llx is outside the block's %u bytes",
        static_cast<unsigned long long>(address), static_cast<unsigned long long>(bits_), block_.shared_bytes);
    throw program_error(text);
  }

  const block_context& block_;
  std::uint64_t bits_;
};

/// Calls f(line, k, address) for the rows of 16 bytes of `lines` rows of a or columns of b, from `first` on.
template <class F>
void each_chunk(std::uint64_t bits, bool transposed, unsigned first, unsigned lines, unsigned depth, unsigned width,
                F&& f) {
  const matrix_descriptor d(bits);
  const unsigned in_chunk = chunk_bytes * 8 / width;
  if (transposed) {
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned line = 0; line < lines; line += in_chunk) f(line, k, d.across_k(k, (first + line) / in_chunk));
    return;
  }
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned k = 0; k < depth; k += in_chunk) f(line, k, d.along_k(first + line, k / in_chunk));
}

/// Calls set(line, k, bits) for the elements, each an Element, of `lines` rows of a or columns of b, from `first` on.
template <class Element, class F>
void each_element_as(const block_context& block, std::uint64_t bits, bool transposed, unsigned first, unsigned lines,
                     unsigned depth, F&& set) {
  const operand_memory memory(block, bits);
  constexpr unsigned in_chunk = chunk_bytes / sizeof(Element);
  each_chunk(bits, transposed, first, lines, depth, 8 * sizeof(Element),
             [&](unsigned line, unsigned k, std::uint64_t address) {
               std::uint8_t chunk[chunk_bytes];
               memory.read(address, chunk);
               Element elements[in_chunk];
               std::memcpy(elements, chunk, sizeof chunk);
               if (transposed)
                 for (unsigned e = 0; e < in_chunk; ++e) set(line + e, k, elements[e]);
               else
                 for (unsigned e = 0; e < in_chunk; ++e) set(line, k + e, elements[e]);
             });
}

template <class F>
void each_element(const block_context& block, std::uint64_t bits, bool transposed, unsigned first, unsigned lines,
                  unsigned depth, unsigned width, F&& set) {
  if (width == 32) return each_element_as<std::uint32_t>(block, bits, transposed, first, lines, depth, set);
  if (width == 16) return each_element_as<std::uint16_t>(block, bits, transposed, first, lines, depth, set);
  each_element_as<std::uint8_t>(block, bits, transposed, first, lines, depth, set);
}

/// Where the operands of a product are, and their types.
struct product {
  product(const instruction& i, const warp_state& w, lane_mask mask)
      : i(i),
        w(w),
        lane(static_cast<unsigned>(__builtin_ctz(mask))),
        a_type(i.src_type),
        b_type(i.sub & gmma::b_other ? other_of(i.src_type) : i.src_type),
        width(std::max(element_bits(a_type), 8u)),
        stored(gmma::depth_bytes * 8 / width),
        sparse((i.sub & gmma::sparse) != 0),
        depth(stored * (sparse ? 2 : 1)),
        columns(isa::columns_of(i)) {}

  [[nodiscard]] const std::uint32_t* reg(const isa::operand& o, unsigned word) const {
    return o.is_reg() && o.reg != isa::rz ? w.regs + (std::size_t{o.reg} + word) * warp_size : zero_lanes;
  }
  [[nodiscard]] std::uint64_t wide(const isa::operand& o) const {
    return reg(o, 0)[lane] | std::uint64_t{reg(o, 1)[lane]} << 32;
  }
  /// Whether c is added.
  [[nodiscard]] bool accumulates() const {
    const lane_mask p = w.predicates[i.psrc[0].reg];
    return (((i.psrc[0].negate ? ~p : p) >> lane) & 1) != 0;
  }
  /// Calls set(row, place along k, bits) for the stored elements of a.
  template <class F>
  void each_of_a(F&& set) const {
    const bool shared = (i.sub & gmma::a_shared) != 0;
    const sparse_places places(reg(i.src[0], shared ? 2 : 4), a_type, stored, static_cast<unsigned>(i.cmp));
    const auto place = [&](unsigned row, unsigned k, std::uint32_t bits) {
      set(row, sparse ? places(row, k) : k, bits);
    };
    if (shared)
      return each_element(*w.block, wide(i.src[0]), (i.sub & gmma::a_transposed) != 0,
                          w.warp_in_block % warps_of_group * rows, rows, stored, width, place);
    const unsigned run = 32 / width;
    for (unsigned q = 0; q < 4; ++q) {
      const std::uint32_t* const word = reg(i.src[0], q);
      for (unsigned l = 0; l < warp_size; ++l)
        for (unsigned e = 0; e < run; ++e)
          place(l / 4 + q % 2 * 8, q / 2 * 4 * run + l % 4 * run + e,
                width == 32 ? word[l] : word[l] >> (e * width) & ((1u << width) - 1));
    }
  }
  template <class F>
  void each_of_b(unsigned first, unsigned lines, F&& set) const {
    each_element(*w.block, wide(i.src[1]), (i.sub & gmma::b_transposed) != 0, first, lines, depth, width, set);
  }

  const instruction& i;
  const warp_state& w;
  unsigned lane;
  dtype a_type, b_type;
  unsigned width;   // bits of an element; of single bits: of eight
  unsigned stored;  // elements of a row of a that are there
  bool sparse;
  unsigned depth, columns;
};

/// Calls f(row, column, register, lane) for the accumulators of 32 bits of columns [first, first + count).
template <class F>
void each_accumulator(unsigned first, unsigned count, F&& f) {
  for (unsigned block = first / 8; block < (first + count) / 8; ++block)
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned row = 0; row < 8; ++row)
        for (unsigned pair = 0; pair < 4; ++pair)
          for (unsigned e = 0; e < 2; ++e)
            f(half * 8 + row, block * 8 + pair * 2 + e, 4 * block + half * 2 + e, row * 4 + pair);
}

constexpr unsigned block_columns = product_tile::columns;  // computed at a time: their elements fill the host's cache

/// The accumulators of a product of floats: f32, or pairs of f16.
class float_accumulators {
 public:
  float_accumulators(const product& p, warp_state& w, lane_mask mask)
      : f32_(p.i.type == dtype::f32), mask_(mask), regs_(w.regs + std::size_t{p.i.dst} * warp_size) {}

  void load(unsigned first, unsigned count, product_tile& t) const {
    if (f32_)
      each_accumulator(first, count, [&](unsigned r, unsigned n, unsigned e, unsigned l) {
        std::memcpy(&t.d[r][n - first], &regs_[e * warp_size + l], sizeof(float));
      });
    else
      each_accumulator(first, count, [&](unsigned r, unsigned n, unsigned e, unsigned l) {
        t.d[r][n - first] = static_cast<float>(from_f16(regs_[e / 2 * warp_size + l] >> at(e) & 0xffff));
      });
  }
  void store(unsigned first, unsigned count, const product_tile& t) const {
    if (f32_)
      each_accumulator(first, count, [&](unsigned r, unsigned n, unsigned e, unsigned l) {
        const std::uint32_t word = to_f32(t.d[r][n - first]);
        if ((mask_ >> l & 1) != 0) regs_[e * warp_size + l] = word;
      });
    else
      each_accumulator(first, count, [&](unsigned r, unsigned n, unsigned e, unsigned l) {
        std::uint32_t& word = regs_[e / 2 * warp_size + l];
        if ((mask_ >> l & 1) != 0) word = (word & ~(0xffffu << at(e))) | to_f16(t.d[r][n - first]) << at(e);
      });
  }

 private:
  static unsigned at(unsigned e) { return e % 2 * 16; }

  bool f32_;
  lane_mask mask_;
  std::uint32_t* regs_;
};

void floating_product(const product& p, warp_state& w, lane_mask mask) {
  const bool adds = p.accumulates();
  const bool minus = ((p.i.sub & gmma::a_negated) != 0) != ((p.i.sub & gmma::b_negated) != 0);
  const float_accumulators accumulators(p, w, mask);
  product_tile t;
  if (p.sparse) std::memset(t.a, 0, sizeof t.a);
  p.each_of_a([&](unsigned r, unsigned k, std::uint32_t bits) { t.a[r][k] = bits; });
  for (unsigned first = 0; first < p.columns; first += block_columns) {
    const unsigned count = std::min(block_columns, p.columns - first);
    p.each_of_b(first, count, [&](unsigned n, unsigned k, std::uint32_t bits) { t.b[k][n] = bits; });
    if (adds) accumulators.load(first, count, t);
    else std::memset(t.d, 0, sizeof t.d);
    add_products(t, {p.a_type, p.b_type, rows, count, p.depth, p.i.sum_products * (p.sparse ? 2u : 1u),
                     p.i.sum_fraction_bits, p.i.type != dtype::f32, minus, false});
    accumulators.store(first, count, t);
  }
}

/// Sums of bytes, or of single bits, of which eight are an element.
void integer_product(const product& p, warp_state& w, lane_mask mask) {
  const bool adds = p.accumulates(), single = p.a_type == dtype::b1;
  const auto value = [&](dtype t, std::uint32_t bits) {
    return single ? static_cast<std::int32_t>(bits) : integer_value(t, bits);
  };
  std::int32_t a[rows][most_depth] = {};
  p.each_of_a([&](unsigned r, unsigned k, std::uint32_t bits) { a[r][k] = value(p.a_type, bits); });
  for (unsigned first = 0; first < p.columns; first += block_columns) {
    const unsigned count = std::min(block_columns, p.columns - first);
    std::int32_t b[most_depth][block_columns] = {}, d[rows][block_columns] = {};
    p.each_of_b(first, count, [&](unsigned n, unsigned k, std::uint32_t bits) { b[k][n] = value(p.b_type, bits); });
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned k = 0; k < p.depth; ++k)
        for (unsigned n = 0; n < count; ++n)
          d[r][n] += single ? __builtin_popcount(static_cast<unsigned>(a[r][k] & b[k][n])) : a[r][k] * b[k][n];
    each_accumulator(first, count, [&](unsigned r, unsigned n, unsigned e, unsigned l) {
      if ((mask >> l & 1) == 0) return;
      std::uint32_t& word = w.regs[(std::size_t{p.i.dst} + e) * warp_size + l];
      std::int64_t sum = (adds ? static_cast<std::int32_t>(word) : 0) + std::int64_t{d[r][n - first]};
      if (p.i.saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      word = static_cast<std::uint32_t>(sum);
    });
  }
}

}  // namespace

void warpgroup_product(const instruction& i, warp_state& w, lane_mask mask) {
  const product p(i, w, mask);
  if (i.type == dtype::s32) integer_product(p, w, mask);
  else floating_product(p, w, mask);
}

void each_row_read(const instruction& i, const warp_state& w, lane_mask mask,
                   const std::function<void(std::uint64_t, unsigned)>& f) {
  const product p(i, w, mask);
  const auto row = [&f](unsigned, unsigned, std::uint64_t address) { f(address, chunk_bytes); };
  if ((i.sub & gmma::a_shared) != 0)
    each_chunk(p.wide(i.src[0]), (i.sub & gmma::a_transposed) != 0, w.warp_in_block % warps_of_group * rows, rows,
               p.stored, p.width, row);
  each_chunk(p.wide(i.src[1]), (i.sub & gmma::b_transposed) != 0, 0, p.columns, p.depth, p.width, row);
}

}  // namespace heddle::simt

// SPDX-License-Identifier: MIT
// Integer comparisons, predicates, and sources that are no registers.
#include "simt_integer_cases.h"

namespace heddle::simt {
namespace simt_compare_test {

using namespace simt_integer_cases;
using isa::compare;

bool relation(compare c, wide_int a, wide_int b) {
  switch (c) {
    case compare::lt:
    case compare::ltu: return a < b;
    case compare::le:
    case compare::leu: return a <= b;
    case compare::gt:
    case compare::gtu: return a > b;
    case compare::ge:
    case compare::geu: return a >= b;
    case compare::eq:
    case compare::equ: return a == b;
    case compare::ne:
    case compare::neu: return a != b;
    case compare::num:
    case compare::t: return true;
    default: return false;
  }
}

TEST(simt_integer, compares_and_minmax) {
  auto pairs = cases();
  for (std::size_t k = 0; k < pairs.size(); k += 3) pairs[k].b = pairs[k].a;
  for (unsigned c = 0; c <= static_cast<unsigned>(compare::t); ++c) {
    for (const bool is_signed : {false, true}) {
      const auto value = [&](std::uint64_t v) { return is_signed ? as_s(v) : std::int64_t{low(v)}; };
      for (const isa::bool_op bop : {isa::bool_op::and_, isa::bool_op::or_, isa::bool_op::xor_}) {
        auto i = make(opcode::isetp, is_signed ? dtype::s32 : dtype::u32, 0);
        i.cmp = static_cast<compare>(c);
        i.bop = bop;
        i.pdst = {3, 0};
        i.psrc[0] = {0, false};
        check(i, pairs, [&](const operands& o) {
          const bool r = relation(i.cmp, value(o.a), value(o.b));
          const auto with = [&](bool x) {
            return bop == isa::bool_op::and_ ? x && o.p : bop == isa::bool_op::or_ ? x || o.p : x != o.p;
          };
          return outcome{0, with(r), with(!r)};
        });
      }
    }
  }
  for (const bool is_signed : {false, true}) {
    auto i = make(opcode::imnmx, is_signed ? dtype::s32 : dtype::u32);
    i.psrc[0] = {0, false};
    check(i, pairs, [&](const operands& o) {
      const bool less = is_signed ? as_s(o.a) < as_s(o.b) : low(o.a) < low(o.b);
      return outcome{less == o.p ? o.a : o.b};
    });
  }
}

TEST(simt_integer, compare_of_two_words_is_a_64_bit_compare) {
  const auto pairs = mixed_cases(integer_edges(), 2000, 4, 500);
  for (const compare c : {compare::lt, compare::le, compare::gt, compare::ge, compare::eq, compare::ne}) {
    for (const bool is_signed : {false, true}) {
      for (const operands& o : pairs) {
        test_warp w;
        for (unsigned l = 0; l < warp_size; ++l) w.set_pair(4, l, o.a), w.set_pair(6, l, o.b);
        auto lo = make(opcode::isetp, dtype::u32, 0);
        lo.cmp = c;
        lo.pdst[0] = 1;
        auto hi = lo;
        hi.type = is_signed ? dtype::s32 : dtype::u32;
        hi.src[0].reg = 5;
        hi.src[1].reg = 7;
        hi.extended = true;
        hi.psrc[1] = {1, false};
        hi.pdst[0] = 2;
        w.run(lo);
        w.run(hi);
        const wide_int a = is_signed ? wide_int{static_cast<std::int64_t>(o.a)} : wide_int{o.a};
        const wide_int b = is_signed ? wide_int{static_cast<std::int64_t>(o.b)} : wide_int{o.b};
        ASSERT_EQ(w.state.predicates[2], relation(c, a, b) ? all_lanes : 0u) << std::hex << o.a << " " << o.b;
      }
    }
  }
}

TEST(simt_integer, predicate_registers) {
  test_warp w;
  random_bits random(21);
  for (unsigned p = 0; p < 7; ++p) w.state.predicates[p] = random.word();
  const auto saved = w.state.predicates;
  for (unsigned lut = 0; lut < 256; ++lut) {
    isa::instruction i = make(opcode::plop3, dtype::pred, 0);
    i.sub = static_cast<std::uint8_t>(lut);
    i.pdst[0] = 6;
    i.psrc = {isa::predicate{0, false}, isa::predicate{1, true}, isa::predicate{2, false}};
    w.run(i, 0xffff00ffu);
    for (unsigned l = 0; l < warp_size; ++l) {
      const unsigned row = (saved[0] >> l & 1) * 4 + (~saved[1] >> l & 1) * 2 + (saved[2] >> l & 1);
      const bool old = (saved[6] >> l & 1) != 0;
      ASSERT_EQ((w.state.predicates[6] >> l & 1) != 0, (0xffff00ffu >> l & 1) ? (lut >> row & 1) != 0 : old);
    }
    w.state.predicates = saved;
  }
  isa::instruction p2r = make(opcode::p2r, dtype::b32);
  p2r.src[1] = isa::make_immediate(0x5d);
  w.run(p2r);
  for (unsigned l = 0; l < warp_size; ++l) {
    unsigned bits = 0;
    for (unsigned p = 0; p < 7; ++p) bits |= (saved[p] >> l & 1) << p;
    ASSERT_EQ(w.reg(2, l), bits & 0x5d);
    w.reg(4, l) = ~bits;
  }
  isa::instruction r2p = make(opcode::r2p, dtype::b32, 0);
  r2p.src[1] = isa::make_immediate(0x2b);
  w.run(r2p, 0x00ffff0fu);
  for (unsigned p = 0; p < 7; ++p) {
    const lane_mask turned = (0x2b >> p & 1) ? 0x00ffff0fu : 0;
    EXPECT_EQ(w.state.predicates[p], saved[p] ^ turned) << p;
  }
  EXPECT_EQ(w.state.predicates[7], all_lanes);
}

TEST(simt_integer, sources_other_than_registers) {
  test_warp w;
  const std::uint8_t bytes[] = {1, 2, 3, 4, 5, 6};
  w.launch.banks[2].assign(bytes, bytes + 6);
  for (unsigned l = 0; l < warp_size; ++l) w.reg(4, l) = 100 + l;
  isa::instruction i = make(opcode::iadd3, dtype::u32);
  i.src[2] = isa::operand{};
  const auto sum_with = [&](const isa::operand& o) {
    i.src[1] = o;
    w.run(i);
    return w.reg(2, 7) - 107;
  };
  EXPECT_EQ(sum_with(isa::make_constant(2, 0)), 0x04030201u);
  EXPECT_EQ(sum_with(isa::make_constant(2, 4)), 0x0605u);  // the bank's image ends inside the word
  EXPECT_EQ(sum_with(isa::make_constant(2, 6)), 0u);
  EXPECT_EQ(sum_with(isa::make_constant(2, ~std::uint64_t{0})), 0u);
  EXPECT_EQ(sum_with(isa::make_constant(9, 0)), 0u);
  EXPECT_EQ(sum_with(isa::make_immediate(77)), 77u);
  EXPECT_EQ(sum_with(isa::make_reg(isa::rz)), 0u);
  isa::operand inverted = isa::make_reg(isa::rz);
  inverted.invert = true;
  EXPECT_EQ(sum_with(inverted), 0xffffffffu);
  i.dst = isa::rz;
  w.run(i);
  EXPECT_EQ(w.reg(2, 7) - 107, 0xffffffffu);
}

TEST(simt_integer, special_registers) {
  test_warp w;
  w.launch.block = {5, 3, 7};
  w.launch.grid = {11, 12, 13};
  w.launch.sm_count = 20;
  w.block.index = {4, 5, 6};
  w.state.warp_in_block = 2;
  w.state.slot = 9;
  w.state.cycle = 0x123456789abcu;
  w.state.clock_low = 0x56789abcu;
  w.state.time_ns = 0xfedcba987u;
  const auto read = [&](isa::special s, unsigned lane, std::uint8_t count = 1) {
    isa::instruction i = make(opcode::s2r, dtype::u32, count);
    i.sub = static_cast<std::uint8_t>(s);
    w.reg(3, lane) = 0;
    w.run(i);
    return w.pair(2, lane);
  };
  for (unsigned l = 0; l < warp_size; ++l) {
    EXPECT_EQ(read(isa::special::tid_x, l), (64 + l) % 5);
    EXPECT_EQ(read(isa::special::tid_y, l), (64 + l) / 5 % 3);
    EXPECT_EQ(read(isa::special::tid_z, l), (64 + l) / 15);
    EXPECT_EQ(read(isa::special::laneid, l), l);
    EXPECT_EQ(read(isa::special::lanemask_eq, l), 1ull << l);
    EXPECT_EQ(read(isa::special::lanemask_lt, l), (1ull << l) - 1);
    EXPECT_EQ(read(isa::special::lanemask_le, l), (2ull << l) - 1);
    EXPECT_EQ(read(isa::special::lanemask_gt, l), ~((2ull << l) - 1) & 0xffffffffu);
    EXPECT_EQ(read(isa::special::lanemask_ge, l), ~((1ull << l) - 1) & 0xffffffffu);
  }
  EXPECT_EQ(read(isa::special::ntid_z, 3), 7u);
  EXPECT_EQ(read(isa::special::ctaid_y, 3), 5u);
  EXPECT_EQ(read(isa::special::nctaid_x, 3), 11u);
  EXPECT_EQ(read(isa::special::warpid, 3), 9u);
  EXPECT_EQ(read(isa::special::smid, 3), 3u);
  EXPECT_EQ(read(isa::special::nsmid, 3), 20u);
  EXPECT_EQ(read(isa::special::clock, 3), 0x56789abcu);
  EXPECT_EQ(read(isa::special::clock_hi, 3), 0x1234u);
  EXPECT_EQ(read(isa::special::clock64, 3, 2), 0x123456789abcu);
  EXPECT_EQ(read(isa::special::globaltimer, 3, 2), 0xfedcba987u);
}

}  // namespace simt_compare_test
}  // namespace heddle::simt

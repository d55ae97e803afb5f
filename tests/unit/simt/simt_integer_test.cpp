// SPDX-License-Identifier: MIT
// Integer instructions, compared with bit-by-bit references written from the PTX ISA's definitions.
#include "simt_fixture.h"

namespace heddle::simt {
namespace simt_integer_test {

using isa::compare;
using isa::dtype;
using isa::opcode;

std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
std::int64_t as_s(std::uint64_t v) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(v)); }
const std::vector<operands>& cases() {
  static const auto c = mixed_cases(integer_edges(), 3000, 7, 2000);
  return c;
}

TEST(simt_integer, moves_and_selects) {
  check(make(opcode::mov, dtype::u32), cases(), [](const operands& o) { return outcome{o.a}; });
  auto sel = make(opcode::sel, dtype::b32);
  sel.psrc[0] = {0, false};
  check(sel, cases(), [](const operands& o) { return outcome{o.p ? o.a : o.b}; });
  sel.psrc[0] = {0, true};
  check(sel, cases(), [](const operands& o) { return outcome{o.p ? o.b : o.a}; });
  auto negated = make(opcode::mov, dtype::f32);
  negated.src[0].negate = true;
  check(negated, cases(), [](const operands& o) { return outcome{o.a ^ 0x80000000u}; });
}

TEST(simt_integer, add_with_modifiers_and_carries) {
  check(make(opcode::iadd3, dtype::u32), cases(), [](const operands& o) { return outcome{o.a + o.b + o.c}; });
  for (int m = 0; m < 8; ++m) {
    auto i = make(opcode::iadd3, dtype::u32);
    for (unsigned k = 0; k < 3; ++k) i.src[k].negate = (m >> k & 1) != 0;
    check(i, cases(), [&](const operands& o) {
      return outcome{(m & 1 ? 0 - o.a : o.a) + (m & 2 ? 0 - o.b : o.b) + (m & 4 ? 0 - o.c : o.c)};
    });
    for (int extended = 0; extended < 2; ++extended) {
      auto chain = i;
      chain.extended = extended != 0;
      chain.psrc[0] = {0, false};
      chain.pdst[0] = 3;
      check(chain, cases(), [&](const operands& o) {
        std::uint64_t sum = extended ? o.p : 0;
        const std::uint64_t v[3] = {o.a, o.b, o.c};
        for (unsigned k = 0; k < 3; ++k) {
          const bool negate = (m >> k & 1) != 0;
          sum += negate ? low(~v[k]) : low(v[k]);
          if (negate && !extended) ++sum;
        }
        return outcome{sum, (sum >> 32) != 0};
      });
    }
  }
}

TEST(simt_integer, carry_chain_of_two_words_is_a_64_bit_sum) {
  random_bits random(5);
  for (int round = 0; round < 200; ++round) {
    test_warp w;
    for (unsigned l = 0; l < warp_size; ++l) {
      w.set_pair(4, l, random.next() >> (random.word() % 60));
      w.set_pair(6, l, 0 - (random.next() >> (random.word() % 60)));
    }
    for (const bool subtract : {false, true}) {
      isa::instruction lo = make(opcode::iadd3, dtype::u32);
      lo.src[2] = isa::make_reg(isa::rz);
      lo.src[1].negate = subtract;
      lo.pdst[0] = 1;
      isa::instruction hi = lo;
      hi.pdst[0] = isa::pt;
      hi.dst = 3;
      hi.src[0].reg = 5;
      hi.src[1].reg = 7;
      hi.extended = true;
      hi.psrc[0] = {1, false};
      w.run(lo);
      w.run(hi);
      for (unsigned l = 0; l < warp_size; ++l) {
        ASSERT_EQ(w.pair(2, l), subtract ? w.pair(4, l) - w.pair(6, l) : w.pair(4, l) + w.pair(6, l));
      }
    }
  }
}

TEST(simt_integer, lea) {
  for (unsigned shift = 0; shift < 32; ++shift) {
    auto i = make(opcode::lea, dtype::u32);
    i.sub = static_cast<std::uint8_t>(shift);
    check(i, cases(), [&](const operands& o) { return outcome{(o.a << shift) + o.b}; });
    auto carry = i;
    carry.extended = true;
    carry.psrc[0] = {0, false};
    carry.pdst[0] = 4;
    check(carry, cases(), [&](const operands& o) {
      const std::uint64_t sum = std::uint64_t{low(o.a << shift)} + low(o.b) + o.p;
      return outcome{sum, (sum >> 32) != 0};
    });
    i.high = true;
    check(i, cases(), [&](const operands& o) { return outcome{(((o.c << 32 | low(o.a)) << shift) >> 32) + o.b}; });
  }
}

TEST(simt_integer, every_lop3_table) {
  const auto few = mixed_cases(integer_edges(), 60, 3, 64);
  for (unsigned lut = 0; lut < 256; ++lut) {
    auto i = make(opcode::lop3, dtype::b32);
    i.sub = static_cast<std::uint8_t>(lut);
    const auto reference = [&](const operands& o) {
      std::uint32_t d = 0;
      for (unsigned bit = 0; bit < 32; ++bit) {
        const unsigned row = unsigned(o.a >> bit & 1) * 4 + unsigned(o.b >> bit & 1) * 2 + unsigned(o.c >> bit & 1);
        d |= (lut >> row & 1) << bit;
      }
      return outcome{d, d != 0};
    };
    check(i, few, reference);
    i.pdst[0] = 2;
    check(i, few, reference);
  }
}

TEST(simt_integer, shifts) {
  for (const bool wrap : {false, true}) {
    const auto amount = [&](const operands& o) { return wrap ? low(o.b) & 31 : low(o.b) > 32 ? 32 : low(o.b); };
    auto shl = make(opcode::shl, dtype::b32);
    shl.wrap = wrap;
    check(shl, cases(), [&](const operands& o) { return outcome{std::uint64_t{low(o.a)} << amount(o)}; });
    auto shr = make(opcode::shr, dtype::u32);
    shr.wrap = wrap;
    check(shr, cases(), [&](const operands& o) { return outcome{std::uint64_t{low(o.a)} >> amount(o)}; });
    shr.type = dtype::s32;
    check(shr, cases(), [&](const operands& o) { return outcome{static_cast<std::uint64_t>(as_s(o.a) >> amount(o))}; });
    auto shf = make(opcode::shf, dtype::u32);
    shf.wrap = wrap;
    const auto value = [](const operands& o) { return o.c << 32 | low(o.a); };
    check(shf, cases(), [&](const operands& o) { return outcome{value(o) << amount(o) >> 32}; });
    shf.sub = 1;
    check(shf, cases(), [&](const operands& o) { return outcome{value(o) >> amount(o)}; });
    const auto wide_amount = [&](const operands& o) { return wrap ? low(o.b) & 63 : low(o.b) > 64 ? 64 : low(o.b); };
    for (const dtype t : {dtype::u64, dtype::s64}) {
      shf.type = t;
      shf.sub = 0;
      shf.high = false;
      check(shf, cases(),
            [&](const operands& o) { return outcome{wide_amount(o) > 63 ? 0 : value(o) << wide_amount(o) >> 32}; });
      shf.sub = 1;
      for (const bool high : {false, true}) {
        shf.high = high;
        check(shf, cases(), [&](const operands& o) {
          const unsigned n = wide_amount(o);
          const std::uint64_t fill = t == dtype::s64 && (value(o) >> 63) ? ~std::uint64_t{0} : 0;
          std::uint64_t r = fill;
          for (unsigned bit = 0; bit + n < 64; ++bit) {
            r = (r & ~(std::uint64_t{1} << bit)) | (value(o) >> (bit + n) & 1) << bit;
          }
          return outcome{high ? r >> 32 : low(r)};
        });
      }
    }
  }
}

TEST(simt_integer, bit_fields) {
  auto fields = mixed_cases(integer_edges(), 200, 1, 200);
  random_bits random(9);
  for (int k = 0; k < 4000; ++k) {
    fields.push_back(
        {random.next(), (random.word() % 40) | (random.word() % 40) << 8 | random.word() << 16, random.next()});
  }
  for (const bool is_signed : {false, true}) {
    check(make(opcode::bfe, is_signed ? dtype::s32 : dtype::u32), fields, [&](const operands& o) {
      const unsigned pos = o.b & 0xff, len = o.b >> 8 & 0xff;
      const unsigned top = pos + len - 1 < 31 ? pos + len - 1 : 31;
      const unsigned sign = !is_signed || len == 0 ? 0 : unsigned(o.a >> top & 1);
      std::uint32_t d = 0;
      for (unsigned k = 0; k < 32; ++k) d |= (k < len && pos + k <= 31 ? unsigned(o.a >> (pos + k) & 1) : sign) << k;
      return outcome{d};
    });
  }
  check(make(opcode::bfi, dtype::b32), fields, [](const operands& o) {
    const unsigned pos = o.b & 0xff, len = o.b >> 8 & 0xff;
    std::uint32_t d = low(o.c);
    for (unsigned k = 0; k < len && pos + k <= 31; ++k)
      d = (d & ~(1u << (pos + k))) | unsigned(o.a >> k & 1) << (pos + k);
    return outcome{d};
  });
  for (const bool wrap : {false, true}) {
    auto bmsk = make(opcode::bmsk, dtype::b32);
    bmsk.wrap = wrap;
    check(bmsk, cases(), [&](const operands& o) {
      const std::uint64_t pos = wrap ? o.a & 31 : low(o.a), len = wrap ? o.b & 31 : low(o.b);
      std::uint32_t d = 0;
      for (unsigned k = 0; k < 32; ++k) d |= (k >= pos && k < pos + len ? 1u : 0u) << k;
      return outcome{d};
    });
    for (const dtype t : {dtype::u32, dtype::s32}) {
      auto sgxt = make(opcode::sgxt, t);
      sgxt.wrap = wrap;
      check(sgxt, cases(), [&](const operands& o) {
        const unsigned n = wrap ? o.b & 31 : low(o.b) > 32 ? 32 : low(o.b);
        std::uint32_t d = 0;
        for (unsigned k = 0; k < 32; ++k) {
          const bool bit = k < n ? (o.a >> k & 1) != 0 : n > 0 && t == dtype::s32 && (o.a >> (n - 1) & 1) != 0;
          d |= (bit ? 1u : 0u) << k;
        }
        return outcome{d};
      });
    }
  }
}

TEST(simt_integer, prmt_modes) {
  // PTX ISA, table of prmt modes: the source byte of d.b3 d.b2 d.b1 d.b0 for selector values 0..3.
  const unsigned table[7][4][4] = {{},
                                   {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}},
                                   {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}},
                                   {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
                                   {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}},
                                   {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}},
                                   {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}};
  for (unsigned mode = 0; mode <= 6; ++mode) {
    auto i = make(opcode::prmt, dtype::b32);
    i.sub = static_cast<std::uint8_t>(mode);
    check(i, cases(), [&](const operands& o) {
      std::uint8_t source[8];
      for (unsigned k = 0; k < 4; ++k) {
        source[k] = static_cast<std::uint8_t>(o.a >> (8 * k));
        source[4 + k] = static_cast<std::uint8_t>(o.c >> (8 * k));
      }
      std::uint32_t d = 0;
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned nibble = mode == 0 ? unsigned(o.b >> (4 * k) & 15) : table[mode][o.b & 3][3 - k];
        const std::uint32_t byte = nibble & 8 ? (source[nibble & 7] & 0x80 ? 0xffu : 0) : source[nibble & 7];
        d |= byte << (8 * k);
      }
      return outcome{d};
    });
  }
}

TEST(simt_integer, counts) {
  check(make(opcode::popc, dtype::b32), cases(), [](const operands& o) {
    unsigned n = 0;
    for (unsigned k = 0; k < 32; ++k) n += o.a >> k & 1;
    return outcome{n};
  });
  check(make(opcode::brev, dtype::b32), cases(), [](const operands& o) {
    std::uint32_t d = 0;
    for (unsigned k = 0; k < 32; ++k) d |= unsigned(o.a >> k & 1) << (31 - k);
    return outcome{d};
  });
  for (const dtype t : {dtype::u32, dtype::s32}) {
    for (std::uint8_t shift = 0; shift < 2; ++shift) {
      auto flo = make(opcode::flo, t);
      flo.sub = shift;
      check(flo, cases(), [&](const operands& o) {
        const std::uint32_t v = t == dtype::s32 && as_s(o.a) < 0 ? ~low(o.a) : low(o.a);
        for (unsigned k = 32; k-- > 0;) {
          if (v >> k & 1) return outcome{shift ? 31 - k : k};
        }
        return outcome{0xffffffffu};
      });
    }
  }
  check(make(opcode::iabs, dtype::s32), cases(),
        [](const operands& o) { return outcome{static_cast<std::uint64_t>(as_s(o.a) < 0 ? -as_s(o.a) : as_s(o.a))}; });
}

__extension__ typedef __int128 wide_int;
__extension__ typedef unsigned __int128 wide_unsigned;

TEST(simt_integer, imad) {
  for (const bool is_signed : {false, true}) {
    const auto product = [&](const operands& o) {
      return is_signed ? static_cast<std::uint64_t>(as_s(o.a) * as_s(o.b)) : std::uint64_t{low(o.a)} * low(o.b);
    };
    auto i = make(opcode::imad, is_signed ? dtype::s32 : dtype::u32);
    check(i, cases(), [&](const operands& o) { return outcome{product(o) + o.c}; });
    auto without = i;
    without.src[2] = isa::make_reg(isa::rz);
    check(without, cases(), [&](const operands& o) { return outcome{product(o)}; });
    auto minus = i;
    minus.src[2].negate = true;
    check(minus, cases(), [&](const operands& o) { return outcome{product(o) - o.c}; });
    auto carry = i;
    carry.pdst[0] = 5;
    carry.extended = true;
    carry.psrc[0] = {0, false};
    check(carry, cases(), [&](const operands& o) {
      const std::uint64_t sum = std::uint64_t{low(product(o))} + low(o.c) + o.p;
      return outcome{sum, (sum >> 32) != 0};
    });
    i.high = carry.high = true;
    check(i, cases(), [&](const operands& o) { return outcome{(product(o) >> 32) + o.c}; });
    check(carry, cases(), [&](const operands& o) {
      const std::uint64_t sum = (product(o) >> 32) + low(o.c) + o.p;
      return outcome{sum, (sum >> 32) != 0};
    });
    auto wide = make(opcode::imad, i.type, 2);
    wide.wide = true;
    check(wide, cases(), [&](const operands& o) { return outcome{product(o) + low(o.c)}; });
    wide.src[2].count = 2;
    check(wide, cases(), [&](const operands& o) { return outcome{product(o) + o.c}; });
    wide.extended = true;
    wide.psrc[0] = {0, false};
    wide.pdst[0] = 1;
    check(wide, cases(), [&](const operands& o) {
      const wide_unsigned sum = wide_unsigned{product(o)} + o.c + o.p;
      return outcome{static_cast<std::uint64_t>(sum), (sum >> 64) != 0};
    });
  }
}

TEST(simt_integer, xmad_flags) {
  const auto few = mixed_cases(integer_edges(), 200, 2, 100);
  for (unsigned flags = 0; flags < 256; ++flags) {
    auto i = make(opcode::xmad, dtype::u32);
    i.sub = static_cast<std::uint8_t>(flags);
    check(i, few, [&](const operands& o) {
      const auto half = [](std::uint64_t v, bool high, bool is_signed) {
        const auto h = static_cast<std::uint16_t>(high ? v >> 16 : v);
        return is_signed ? std::int64_t{static_cast<std::int16_t>(h)} : std::int64_t{h};
      };
      std::int64_t product = half(o.a, flags & 1, flags & 64) * half(o.b, flags & 2, flags & 128);
      if (flags & 4) product *= 65536;
      std::uint64_t c = low(o.c);
      switch (flags & 48) {
        case 16: c &= 0xffff; break;
        case 32: c >>= 16; break;
        case 48: c += o.b << 16; break;
        default: break;
      }
      const auto sum = static_cast<std::uint32_t>(static_cast<std::uint64_t>(product) + c);
      return outcome{flags & 8 ? (sum & 0xffff) | low(o.b << 16) : sum};
    });
  }
}

TEST(simt_integer, three_xmads_multiply) {
  random_bits random(11);
  test_warp w;
  for (unsigned l = 0; l < warp_size; ++l) {
    w.reg(4, l) = random.word();
    w.reg(6, l) = random.word();
    w.reg(8, l) = random.word();
  }
  using namespace isa::xmad;
  isa::instruction first = make(opcode::xmad, dtype::u32);  // R10 = a.lo * b.lo + c
  first.dst = 10;
  isa::instruction second = make(opcode::xmad, dtype::u32);  // R12 = a.lo * b.hi, merged with b
  second.dst = 12;
  second.src[2] = isa::make_reg(isa::rz);
  second.sub = h1b | mrg;
  isa::instruction third = make(opcode::xmad, dtype::u32);  // d = (a.hi * R12.hi << 16) + R10 + (R12 << 16)
  third.src[1].reg = 12;
  third.src[2].reg = 10;
  third.sub = h1a | h1b | psl | cbcc;
  w.run(first);
  w.run(second);
  w.run(third);
  for (unsigned l = 0; l < warp_size; ++l) EXPECT_EQ(w.reg(2, l), w.reg(4, l) * w.reg(6, l) + w.reg(8, l));
}

TEST(simt_integer, dot_products_and_differences) {
  const auto byte = [](std::uint64_t v, unsigned k, bool is_signed) {
    const auto b = static_cast<std::uint8_t>(v >> (8 * k));
    return is_signed ? std::int64_t{static_cast<std::int8_t>(b)} : std::int64_t{b};
  };
  const auto half = [](std::uint64_t v, unsigned k, bool is_signed) {
    const auto h = static_cast<std::uint16_t>(v >> (16 * k));
    return is_signed ? std::int64_t{static_cast<std::int16_t>(h)} : std::int64_t{h};
  };
  for (unsigned signs = 0; signs < 4; ++signs) {
    const bool sa = signs & 1, sb = signs & 2;
    auto i = make(opcode::idp, sa ? dtype::s32 : dtype::u32);
    i.src_type = sb ? dtype::s32 : dtype::u32;
    check(i, cases(), [&](const operands& o) {
      std::int64_t d = as_s(o.c);
      for (unsigned k = 0; k < 4; ++k) d += byte(o.a, k, sa) * byte(o.b, k, sb);
      return outcome{static_cast<std::uint64_t>(d)};
    });
    for (std::uint8_t hi = 1; hi <= 2; ++hi) {
      i.sub = hi;
      check(i, cases(), [&](const operands& o) {
        std::int64_t d = as_s(o.c);
        for (unsigned k = 0; k < 2; ++k) d += half(o.a, k, sa) * byte(o.b, k + (hi == 2 ? 2 : 0), sb);
        return outcome{static_cast<std::uint64_t>(d)};
      });
    }
    for (std::uint8_t sub = 0; sub <= 4; ++sub) {
      for (const bool saturate : {false, true}) {
        auto v = make(opcode::vabsdiff, sa ? dtype::s32 : dtype::u32);
        v.src_type = i.src_type;
        v.sub = sub;
        v.saturate = saturate;
        v.high = sa;
        check(v, cases(), [&](const operands& o) {
          if (sub == 0) {
            const std::int64_t x = sa ? as_s(o.a) : std::int64_t{low(o.a)}, y = sb ? as_s(o.b) : std::int64_t{low(o.b)};
            std::int64_t d = x > y ? x - y : y - x;
            if (saturate && d > (sa ? 0x7fffffff : 0xffffffff)) d = sa ? 0x7fffffff : 0xffffffff;
            return outcome{static_cast<std::uint64_t>(d) + o.c};
          }
          const bool bytes = sub == 1 || sub == 3;
          std::uint64_t d = sub > 2 ? 0 : o.c;
          for (unsigned k = 0; k < (bytes ? 4u : 2u); ++k) {
            const std::int64_t x = bytes ? byte(o.a, k, sa) : half(o.a, k, sa),
                               y = bytes ? byte(o.b, k, sb) : half(o.b, k, sb);
            std::int64_t v1 = x > y ? x - y : y - x;
            const std::int64_t top = bytes ? (sa ? 127 : 255) : (sa ? 32767 : 65535);
            if (saturate && v1 > top) v1 = top;
            if (sub > 2) {
              d |= (static_cast<std::uint64_t>(v1) & (bytes ? 0xff : 0xffff)) << (k * (bytes ? 8 : 16));
            } else {
              d += static_cast<std::uint64_t>(v1);
            }
          }
          return outcome{d};
        });
      }
    }
  }
}

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

}  // namespace simt_integer_test
}  // namespace heddle::simt

// SPDX-License-Identifier: MIT
// Integer products and sums of products, compared with references written from the PTX ISA's definitions.
#include "simt_integer_cases.h"

namespace heddle::simt {
namespace simt_multiply_test {

using namespace simt_integer_cases;

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

}  // namespace simt_multiply_test
}  // namespace heddle::simt

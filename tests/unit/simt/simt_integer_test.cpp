// SPDX-License-Identifier: MIT
// Integer instructions, compared with bit-by-bit references written from the PTX ISA's definitions.
#include "simt_integer_cases.h"

namespace heddle::simt {
namespace simt_integer_test {

using namespace simt_integer_cases;

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

}  // namespace simt_integer_test
}  // namespace heddle::simt

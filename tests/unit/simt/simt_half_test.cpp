// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "simt_fixture.h"
#include "simt_reference.h"

namespace heddle::simt {
namespace simt_half_test {

using isa::dtype;
using isa::opcode;
using isa::rounding;

std::vector<operands> half_cases(unsigned seed) {
  std::vector<operands> cases;
  random_bits random(seed);
  const std::uint32_t edges[] = {0,      1,      0x3ff,  0x400,  0x7f,   0x80,   0x3c00, 0x3c01,
                                 0x3f80, 0x7bff, 0x7c00, 0x7c01, 0x7f7f, 0x7f80, 0x7fff, 0x0001};
  for (const std::uint32_t a : edges) {
    for (const std::uint32_t b : edges) {
      for (unsigned s = 0; s < 8; ++s) {
        const auto sign = [&](unsigned k) { return (s >> k & 1) << 15; };
        cases.push_back({(a | sign(0)) | random.word() << 16, (b | sign(1)) | random.word() << 16,
                         (edges[random.word() % 16] | sign(2)) | random.word() << 16, (s & 1) != 0});
      }
    }
  }
  for (int k = 0; k < 6000; ++k) {
    cases.push_back({random.word(), random.word(), random.word(), (k & 1) != 0});
    const std::uint32_t near = 0x07ff07ff;  // exponents close together: cancellation and ties
    cases.push_back({(random.word() & near) | 0x38003800, (random.word() & near) | 0x38003800,
                     (random.word() & near) | 0xb800b800, true});
  }
  return cases;
}

TEST(simt_conversion, half_arithmetic) {
  const auto cases = half_cases(5);
  for (const bool bfloat : {false, true}) {
    const small_format& f = bfloat ? bf16_reference() : f16_reference();
    for (const opcode op : {opcode::hadd2, opcode::hmul2, opcode::hfma2}) {
      for (const bool packed : {false, true}) {
        auto i = make(op, packed ? (bfloat ? dtype::bf16x2 : dtype::f16x2) : (bfloat ? dtype::bf16 : dtype::f16));
        const auto one = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) -> std::uint32_t {
          const quad a = f.value(x), b = f.value(y), c = op == opcode::hmul2 ? -0.0 : f.value(z);
          if (op != opcode::hfma2) {
            const quad r = op == opcode::hadd2 ? a + b : a * b;
            const double sign = op == opcode::hadd2 ? f.value(x) + f.value(y) : f.value(x) * f.value(y);
            return f.round(r, rounding::rn, std::signbit(sign));
          }
          const double sign = f.value(x) * f.value(y) + f.value(z);
          quad sum = a * b + c;
          const quad product = a * b;
          const quad big = (product < 0 ? -product : product) > (c < 0 ? -c : c) ? product : c,
                     small = big == c ? product : c;
          if (small != 0 && sum == sum && big - big == 0 &&
              sum - big != small) {  // beyond 113 bits: the smaller operand only breaks a tie
            const quad nudge = (big < 0 ? -big : big) * static_cast<quad>(0x1p-80);
            sum = small > 0 ? big + nudge : big - nudge;
          }
          if (sum != 0 && !std::isnan(sign)) return f.round(sum, rounding::rn, sum < 0);
          return f.round(sum, rounding::rn, std::signbit(sign));
        };
        check(i, cases, [&](const operands& o) {
          const auto half = [](std::uint64_t v, unsigned k) {
            return static_cast<std::uint32_t>(v >> (16 * k)) & 0xffff;
          };
          const std::uint32_t low = one(half(o.a, 0), half(o.b, 0), half(o.c, 0));
          return outcome{packed ? low | one(half(o.a, 1), half(o.b, 1), half(o.c, 1)) << 16 : low};
        });
      }
    }
  }
}

TEST(simt_conversion, half_saturation_flushing_and_minmax) {
  const auto cases = half_cases(6);
  const auto& f = f16_reference();
  const auto flushed = [](std::uint64_t v) {
    return static_cast<std::uint32_t>((v & 0x7c00) == 0 ? v & 0x8000 : v & 0xffff);
  };
  auto i = make(opcode::hadd2, dtype::f16);
  i.saturate = i.ftz = true;
  check(i, cases, [&](const operands& o) {
    const double r = f.value(flushed(o.a)) + f.value(flushed(o.b));
    const std::uint32_t bits = flushed(f.round(r, rounding::rn, std::signbit(r)));
    return outcome{f.is_nan(bits) || (bits & 0x8000) ? 0u : bits > 0x3c00 ? 0x3c00u : bits};
  });
  for (const bool propagate : {false, true}) {
    auto m = make(opcode::hmnmx2, dtype::f16x2);
    m.nan = propagate;
    m.psrc[0] = {0, false};
    check(m, cases, [&](const operands& o) {
      std::uint32_t d = 0;
      for (unsigned k = 0; k < 2; ++k) {
        const auto a = static_cast<std::uint32_t>(o.a >> (16 * k)) & 0xffff,
                   b = static_cast<std::uint32_t>(o.b >> (16 * k)) & 0xffff;
        const double x = f.value(a), y = f.value(b);
        std::uint32_t r = 0;
        if (std::isnan(x) || std::isnan(y)) {
          r = propagate || (std::isnan(x) && std::isnan(y)) ? 0x7fff : std::isnan(x) ? b : a;
        } else if (x == y) {
          r = o.p ? a | b : a & b;
        } else {
          r = (x < y) == o.p ? a : b;
        }
        d |= r << (16 * k);
      }
      return outcome{d};
    });
  }
}

TEST(simt_conversion, half_compares) {
  auto cases = half_cases(7);
  for (std::size_t k = 0; k < cases.size(); k += 4) cases[k].b = cases[k].a;
  for (unsigned c = 0; c <= static_cast<unsigned>(isa::compare::t); ++c) {
    const auto cmp = static_cast<isa::compare>(c);
    for (const dtype t : {dtype::f16x2, dtype::bf16x2, dtype::f16}) {
      const small_format& f = t == dtype::bf16x2 ? bf16_reference() : f16_reference();
      const auto relation = [&](const operands& o, unsigned k) {
        return ordered_compare(cmp, f.value(static_cast<std::uint32_t>(o.a >> (16 * k)) & 0xffff),
                               f.value(static_cast<std::uint32_t>(o.b >> (16 * k)) & 0xffff));
      };
      auto i = make(opcode::hsetp2, t, 0);
      i.cmp = cmp;
      i.pdst = {3, 4};
      i.psrc[0] = {0, false};
      check(i, cases, [&](const operands& o) {
        return outcome{0, relation(o, 0) && o.p, (t == dtype::f16 ? !relation(o, 0) : relation(o, 1)) && o.p};
      });
      for (const bool wide : {false, true}) {
        auto set = make(opcode::hset2, t);
        set.cmp = cmp;
        set.wide = wide;
        check(set, cases, [&](const operands& o) {
          const std::uint32_t yes = wide ? 0xffff : t == dtype::bf16x2 ? 0x3f80 : 0x3c00;
          return outcome{(relation(o, 0) ? yes : 0) | (t != dtype::f16 && relation(o, 1) ? yes << 16 : 0)};
        });
      }
    }
  }
}

}  // namespace simt_half_test
}  // namespace heddle::simt

// SPDX-License-Identifier: MIT
// mma with arbitrary bits, including NaNs, infinities and subnormal numbers: the sums of docs/model/tensor.md in plain
// C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ptx_machine.h"

namespace heddle {
namespace ptx_tensor_bits_test {

using u32 = std::uint32_t;

enum class format { f16, bf16, tf32, f32 };

double value_of(format f, u32 bits) {
  const int exponent_bits = f == format::f16 ? 5 : 8, fraction_bits = f == format::f16    ? 10
                                                                      : f == format::bf16 ? 7
                                                                                          : 23;
  if (f == format::tf32) bits &= 0xffffe000u;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const u32 exponent = bits >> fraction_bits & ((1u << exponent_bits) - 1),
            fraction = bits & ((1u << fraction_bits) - 1);
  const bool negative = bits >> (exponent_bits + fraction_bits) & 1;
  double v;
  if (exponent == (1u << exponent_bits) - 1) v = fraction == 0 ? HUGE_VAL : std::nan("");
  else if (exponent == 0) v = std::ldexp(fraction, 1 - bias - fraction_bits);
  else v = std::ldexp(fraction + (1u << fraction_bits), static_cast<int>(exponent) - bias - fraction_bits);
  return negative ? -v : v;
}

/// Rounds to nearest even, as does the host by default.
u32 bits_of(format f, double v) {
  if (v != v) return f == format::f32 ? 0x7fffffffu : 0x7fffu;
  if (f == format::f32) {
    const auto x = static_cast<float>(v);
    u32 b;
    std::memcpy(&b, &x, 4);
    return b;
  }
  const u32 sign = std::signbit(v) ? 0x8000u : 0;
  const double a = std::fabs(v);
  if (a >= 65520) return sign | 0x7c00;
  const int exponent = a < 0x1p-14 ? -14 : std::ilogb(a);
  const double units = std::nearbyint(std::ldexp(a, 10 - exponent));  // 11 bits, or one more after a carry
  return sign | (static_cast<u32>(units) + (a < 0x1p-14 ? 0u : static_cast<u32>(exponent + 14) << 10));
}

struct form {
  const char* words;
  format in, sum;
  unsigned k;  // depth
  unsigned a_regs, b_regs, c_regs;
};
constexpr form forms[] = {{"m16n8k8.row.col.f32.f16.f16.f32", format::f16, format::f32, 8, 2, 1, 4},
                          {"m16n8k16.row.col.f32.f16.f16.f32", format::f16, format::f32, 16, 4, 2, 4},
                          {"m16n8k8.row.col.f16.f16.f16.f16", format::f16, format::f16, 8, 2, 1, 2},
                          {"m16n8k16.row.col.f16.f16.f16.f16", format::f16, format::f16, 16, 4, 2, 2},
                          {"m16n8k8.row.col.f32.bf16.bf16.f32", format::bf16, format::f32, 8, 2, 1, 4},
                          {"m16n8k16.row.col.f32.bf16.bf16.f32", format::bf16, format::f32, 16, 4, 2, 4},
                          {"m16n8k4.row.col.f32.tf32.tf32.f32", format::tf32, format::f32, 4, 2, 1, 4},
                          {"m16n8k8.row.col.f32.tf32.tf32.f32", format::tf32, format::f32, 8, 4, 2, 4}};

unsigned bits_in(format f) { return f == format::f16 || f == format::bf16 ? 16 : 32; }

std::string list(char which, unsigned count) {
  std::string s = "{";
  for (unsigned k = 0; k < count; ++k) s += (k ? ", %" : "%") + std::string(1, which) + std::to_string(k);
  return s + "}";
}

std::string kernel(const form& f) {
  std::string s =
      ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b64 %p, %q; .reg .b32 %l, %a<4>, %b<4>, %c<4>, %d<4>;\n"
      "mov.u32 %l, %laneid; ld.param.u64 %p, [in]; mad.wide.u32 %p, %l, 48, %p; ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%p]; ld.global.v4.u32 {%b0, %b1, %b2, %b3}, [%p+16];\n"
      "ld.global.v4.u32 {%c0, %c1, %c2, %c3}, [%p+32]; mov.u32 %d0, 0; mov.u32 %d1, 0; mov.u32 %d2, 0; mov.u32 %d3, 0;\nmma.sync.aligned.";
  s += std::string(f.words) + " " + list('d', f.c_regs) + ", " + list('a', f.a_regs) + ", " + list('b', f.b_regs) +
       ", " + list('c', f.c_regs) + ";\n";
  return s +
         "ld.param.u64 %q, [out]; mad.wide.u32 %q, %l, 16, %q; st.global.v4.u32 [%q], {%d0, %d1, %d2, %d3}; ret; }\n";
}

/// Element e of the `n` adjacent ones in a lane's registers.
u32 element(const u32* registers, unsigned e, format f) {
  return bits_in(f) == 32 ? registers[e] : registers[e / 2] >> (e % 2 * 16) & 0xffff;
}

/// The lane and the element of its fragment that hold (row, k) of a, (k, column) of b: the inverse of the PTX ISA's
/// figures.
struct holder {
  unsigned lane, element;
};
holder of_a(const form& f, unsigned row, unsigned k) {
  const unsigned run = bits_in(f.in) == 16 ? 2 : 1, span = 4 * run;
  return {row % 8 * 4 + k % span / run, (k / span * 2 + row / 8) * run + k % run};
}
holder of_b(const form& f, unsigned k, unsigned column) {
  const unsigned run = bits_in(f.in) == 16 ? 2 : 1, span = 4 * run;
  return {column * 4 + k % span / run, k / span * run + k % run};
}

using lane_words = std::array<u32, 12>;  // a, b, c

/// How a chip adds.
struct chip {
  unsigned products, fraction_bits;  // products: of 16-bit floats
};

/// Of a number that is not zero: its exponent, of a subnormal one the least of its format.
int exponent_of(format f, double v) {
  const int least = f == format::f16 ? -14 : -126;
  return std::max(std::ilogb(v), least);
}

u32 cut_to_f32(double v) {
  float x = static_cast<float>(v);
  if (std::fabs(v) < 0x1p128 && std::fabs(static_cast<double>(x)) > std::fabs(v)) x = std::nextafter(x, 0.0f);
  return bits_of(format::f32, x);
}

/// One sum of `count` products.
u32 fused_sum(const form& f, const chip& on, const double* a, const double* b, unsigned count, double c) {
  double plain = c;
  for (unsigned k = 0; k < count; ++k) plain += a[k] * b[k];
  if (!std::isfinite(plain)) return bits_of(f.sum, plain);
  int exponent = c == 0 ? -1000 : exponent_of(f.sum, c);
  for (unsigned k = 0; k < count; ++k)
    if (a[k] != 0 && b[k] != 0) exponent = std::max(exponent, exponent_of(f.in, a[k]) + exponent_of(f.in, b[k]));
  if (exponent == -1000) return 0;
  const int unit = exponent - static_cast<int>(on.fraction_bits);
  double total = std::trunc(std::ldexp(c, -unit));
  for (unsigned k = 0; k < count; ++k) total += std::trunc(std::ldexp(a[k] * b[k], -unit));
  const double sum = std::ldexp(total, unit);
  return f.sum == format::f16 ? bits_of(f.sum, sum) : cut_to_f32(sum);
}

u32 reference(const form& f, const chip& on, const std::vector<lane_words>& in, unsigned row, unsigned column) {
  const holder c{row % 8 * 4 + column / 2, row / 8 * 2 + column % 2};
  double x[16], y[16];
  for (unsigned k = 0; k < f.k; ++k) {
    const holder a = of_a(f, row, k), b = of_b(f, k, column);
    x[k] = value_of(f.in, element(&in[a.lane][0], a.element, f.in));
    y[k] = value_of(f.in, element(&in[b.lane][4], b.element, f.in));
  }
  const unsigned group = std::min(f.in == format::tf32 ? on.products / 2 : on.products, f.k);
  u32 sum = element(&in[c.lane][8], c.element, f.sum);
  for (unsigned k = 0; k < f.k; k += group) sum = fused_sum(f, on, x + k, y + k, group, value_of(f.sum, sum));
  return sum;
}

u32 random_bits(std::mt19937& random, format f) {
  const u32 v = static_cast<u32>(random());
  static constexpr u32 edges16[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00,
                                    0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3555},
                       edges32[] = {0,          0x80000000, 1,          0x807fffff, 0x3f800000, 0xbf800000, 0x7f7fffff,
                                    0x7f800000, 0xff800000, 0x7fc00000, 0x3eaaaaab, 0x33800000, 0x4b800000, 0x00800000};
  if (random() % 8 == 0) {
    const u32 e = f == format::f16 ? edges16[random() % 14] : edges32[random() % 14];
    return f == format::bf16 ? e >> 16 : e;
  }
  switch (f) {  // of moderate size, so that sums are rounded rather than lost
    case format::f16: return (v & 0x83ff) | (10 + random() % 8) << 10;
    case format::bf16: return (v & 0x807f) | (120 + random() % 12) << 7;
    default: return (v & 0x807fffff) | (120 + random() % 12) << 23;
  }
}

/// Compares `rounds` products with random operands.
void compare(const form& f, const chip& on, unsigned rounds, std::mt19937& random) {
  SCOPED_TRACE(std::string(f.words) + ", products " + std::to_string(on.products));
  unsigned wrong = 0;
  ptx_machine machine(kernel(f), true, 0, 1 << 22);
  machine.config().tensor.sum_products = on.products;
  machine.config().tensor.sum_fraction_bits = on.fraction_bits;
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<lane_words> in(32);
    const bool edges = round % 2 == 1;
    for (lane_words& l : in)
      for (unsigned k = 0; k < 12; ++k) {
        const format t = k < 8 ? f.in : f.sum;
        const auto one = [&] {
          u32 v = random_bits(random, t);
          while (!edges && !std::isfinite(value_of(t, v))) v = random_bits(random, t);
          return v;
        };
        l[k] = bits_in(t) == 32 ? one() : one() | one() << 16;
      }
    const std::uint64_t from = machine.buffer(in), to = machine.buffer(std::vector<u32>(128));
    machine.run("k", {1, 1, 1}, {32, 1, 1}, {from, to});
    const auto got = machine.read<std::array<u32, 4>>(to, 32);
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned column = 0; column < 8; ++column) {
        const u32 g = element(got[row % 8 * 4 + column / 2].data(), row / 8 * 2 + column % 2, f.sum),
                  e = reference(f, on, in, row, column);
        if (g == e) continue;
        if (++wrong <= 3)
          ADD_FAILURE() << "row " << row << ", column " << column << ": got " << std::hex << g << ", expected " << e;
      }
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(mma, of_any_bits_adds_as_the_chip_does) {
  std::mt19937 random(7);
  constexpr chip h100{16, 25}, a100{8, 24}, v100{4, 23};
  for (const form& f : forms)
    for (const chip& on : {h100, a100, v100}) compare(f, on, 40, random);
}

}  // namespace ptx_tensor_bits_test
}  // namespace heddle

// SPDX-License-Identifier: MIT
// mma and wmma of f64 with every shape and rounding, compared with scalar fused multiply-adds. The PTX ISA specifies
// the positions of the elements.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/conformance/reference/machine.h"
#include "tests/conformance/reference/scalar_operation.h"

namespace heddle::conformance {
namespace matrix_test {

using doubles = std::vector<std::uint64_t>;  // as bits

struct shape {
  unsigned m, k;  // n is 8

  [[nodiscard]] std::string name() const { return "m" + std::to_string(m) + "n8k" + std::to_string(k); }
};

doubles operands(std::size_t count, unsigned seed) {
  static const std::uint64_t edges[] = {0,
                                        0x8000000000000000u,
                                        1,
                                        0x3ff0000000000000u,
                                        0xbff0000000000001u,
                                        0x7fefffffffffffffu,
                                        0x0010000000000000u,
                                        0x3ca0000000000000u,
                                        0xc340000000000001u,
                                        0x7ff0000000000000u};
  std::mt19937_64 next(seed);
  doubles v(count);
  for (std::uint64_t& x : v) {
    const std::uint64_t r = next();
    x = r % 16 == 0 ? edges[next() % 10] : (r & 0x800fffffffffffffu) | (0x3f0 + (r >> 52 & 0x1f)) << 52;
  }
  return v;
}

std::string registers(char which, unsigned count) {
  std::string s = "{";
  for (unsigned k = 0; k < count; ++k) s += (k ? ", %" : "%") + std::string(1, which) + std::to_string(k);
  return s + "}";
}

/// Each lane has its elements of a, b and c consecutively in its 128 bytes of `in`, and its elements of d in its 32
/// bytes of `out`.
std::string kernel(const std::string& instruction, const shape& x) {
  const unsigned a = x.m * x.k / 32, b = x.k / 4, c = x.m / 4;
  std::string s =
      ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b64 %in, %out; .reg .b32 %lane;\n"
      ".reg .f64 %a<8>, %b<4>, %c<4>;\nld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %lane, %laneid;\n"
      "mad.wide.u32 %in, %lane, 128, %in; mad.wide.u32 %out, %lane, 32, %out;\n";
  unsigned at = 0;
  for (const auto& [letter, count] : {std::pair<char, unsigned>{'a', a}, {'b', b}, {'c', c}})
    for (unsigned k = 0; k < count; ++k, at += 8)
      s += "ld.global.f64 %" + (letter + std::to_string(k)) + ", [%in+" + std::to_string(at) + "];\n";
  s += instruction + " " + registers('c', c) + ", " + registers('a', a) + ", " + registers('b', b) + ", " +
       registers('c', c) + ";\n";
  for (unsigned k = 0; k < c; ++k)
    s += "st.global.f64 [%out+" + std::to_string(8 * k) + "], %c" + std::to_string(k) + ";\n";
  return s + "ret; }\n";
}

std::vector<std::uint8_t> bytes_of(const doubles& v) {
  std::vector<std::uint8_t> b(v.size() * 8);
  std::memcpy(b.data(), v.data(), b.size());
  return b;
}

class products {
 public:
  products(shape x, unsigned seed)
      : x_(x),
        a_(operands(std::size_t{x.m} * x.k, seed)),
        b_(operands(std::size_t{x.k} * 8, seed + 1)),
        c_(operands(std::size_t{x.m} * 8, seed + 2)) {}

  [[nodiscard]] doubles lanes() const {
    doubles in(32 * 16, 0);
    const unsigned rows = x_.m / 8, a = x_.m * x_.k / 32, b = x_.k / 4;
    for (unsigned l = 0; l < 32; ++l) {
      std::uint64_t* to = &in[l * 16];
      for (unsigned i = 0; i < a; ++i) to[i] = a_[(l / 4 + i % rows * 8) * x_.k + i / rows * 4 + l % 4];
      for (unsigned i = 0; i < b; ++i) to[a + i] = b_[(l % 4 + i * 4) * 8 + l / 4];
      for (unsigned i = 0; i < x_.m / 4; ++i) to[a + b + i] = c_[place(l, i)];
    }
    return in;
  }

  /// The expected i-th result of lane l.
  [[nodiscard]] std::uint64_t expected(unsigned l, unsigned i, const scalar_operation& fma) const {
    const unsigned row = place(l, i) / 8, column = place(l, i) % 8;
    std::uint64_t sum = c_[row * 8 + column];
    for (unsigned k = 0; k < x_.k; ++k) {
      const std::uint64_t s[3] = {a_[row * x_.k + k], b_[k * 8 + column], sum};
      EXPECT_TRUE(evaluate_float(fma, s, 3, sum));
    }
    return sum;
  }

 private:
  static unsigned place(unsigned l, unsigned i) { return (l / 4 + i / 2 * 8) * 8 + l % 4 * 2 + i % 2; }

  shape x_;
  doubles a_, b_, c_;
};

void compare(machine& gpu, const std::string& instruction, const shape& x, const scalar_operation& fma, unsigned seed) {
  SCOPED_TRACE(instruction);
  const products p(x, seed);
  const std::uint64_t in = gpu.allocate(32 * 128), out = gpu.allocate(32 * 32);
  gpu.write(in, bytes_of(p.lanes()));
  scalar_launch launch;
  launch.block[0] = 32;
  launch.parameters = bytes_of({in, out});
  gpu.run(gpu.load(kernel(instruction, x), "matrix.ptx"), "k", launch);
  const std::vector<std::uint8_t> got = gpu.read(out, 32 * 32);
  const float_format f = format_of(isa::dtype::f64);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned i = 0; i < x.m / 4; ++i) {
      std::uint64_t bits;
      std::memcpy(&bits, &got[l * 32 + i * 8], 8);
      const std::uint64_t wanted = p.expected(l, i, fma);
      EXPECT_TRUE(bits == wanted || (f.is_nan(bits) && f.is_nan(wanted)))
          << "lane " << l << ", element " << i << std::hex << ": " << bits << ", expected " << wanted;
    }
}

TEST(matrix_conformance, doubles_in_every_shape_and_rounding) {
  machine gpu("h100");
  unsigned seed = 1;
  for (const std::string mode : {"", ".rn", ".rz", ".rm", ".rp"}) {
    scalar_operation fma;
    fma.name = "fma";
    fma.type = fma.type2 = isa::dtype::f64;
    fma.round = mode == ".rz"   ? direction::zero
                : mode == ".rm" ? direction::down
                : mode == ".rp" ? direction::up
                                : direction::nearest_even;
    for (const shape& x : {shape{8, 4}, shape{16, 4}, shape{16, 8}, shape{16, 16}})
      compare(gpu, "mma.sync.aligned." + x.name() + ".row.col" + mode + ".f64.f64.f64.f64", x, fma, seed += 3);
    compare(gpu, "wmma.mma.sync.aligned.row.col.m8n8k4" + mode + ".f64.f64.f64.f64", {8, 4}, fma, seed += 3);
    compare(gpu, "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64" + mode, {8, 4}, fma, seed += 3);
  }
}

}  // namespace matrix_test
}  // namespace heddle::conformance

// SPDX-License-Identifier: MIT
// mma.sync with elements of 4 bits and single bits, with 8-bit floats and with sparse factors: mma_forms.cu.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"
#include "tests/system/tensor/matrix_elements.h"

namespace mma_forms_test {

namespace fs = std::filesystem;
using namespace heddle::test::matrices;

struct form {
  const char* kernel;
  element_type a, b;
  unsigned width;        // bits of an element; of single bits, of eight
  unsigned rows, depth;  // of all of a
  bool sparse = false;
  unsigned selector = 0;
  bool differ = false;  // bits
};

constexpr form forms[] = {{"e4m3_k32", e4m3, e4m3, 8, 16, 32},
                          {"e5m2_k32", e5m2, e4m3, 8, 16, 32},
                          {"e4m3_k16", e4m3, e4m3, 8, 16, 16},
                          {"s4_k64", s4, s4, 4, 16, 64},
                          {"u4_k32", u4, s4, 4, 16, 32},
                          {"s4_m8", s4, s4, 4, 8, 32},
                          {"b1_k256", b1, b1, 8, 16, 32, false, 0, true},
                          {"b1_k128", b1, b1, 8, 16, 16},
                          {"sp_f16_k16", f16, f16, 16, 16, 16, true, 2},
                          {"sp_f16_k32", f16, f16, 16, 16, 32, true, 1},
                          {"sp_bf16_k32", bf16, bf16, 16, 16, 32, true, 0},
                          {"sp_tf32_k8", tf32, tf32, 32, 16, 8, true, 3},
                          {"sp_tf32_k16", tf32, tf32, 32, 16, 16, true, 0},
                          {"sp_s8_k32", s8, s8, 8, 16, 32, true, 1},
                          {"sp_s8_k64", s8, u8, 8, 16, 64, true, 0}};

class mma_forms : public ::testing::TestWithParam<form> {
 protected:
  void SetUp() override {
    place_ = fs::path(HEDDLE_SCRATCH "/mma_forms") / GetParam().kernel;
    fs::create_directories(place_);
  }
  fs::path place_;
};

/// Which of the four lanes of a row's group holds the metadata of a group of elements, and at which bit: PTX ISA,
/// "Matrix fragments for sparse mma".
struct metadata_place {
  unsigned lane, bit;
};
metadata_place place_of(const form& f, unsigned row, unsigned group) {
  const unsigned groups = f.depth / (f.width == 32 ? 2 : 4);
  if (f.width == 8) return {groups / 4 * f.selector + group / 8 * 2 + row / 8, 4 * (group % 8)};
  return {groups / 4 * f.selector + group / 4, 4 * (group % 4) + 16 * (row / 8)};
}

TEST_P(mma_forms, equal_those_of_the_cpu) {
  const form f = GetParam();
  const unsigned run = 32 / f.width, stored = f.depth / (f.sparse ? 2 : 1), halves = f.rows / 8;
  bytes unused;
  std::vector<int> a = elements(f.a, f.rows, stored, 5, unused), whole(f.rows * f.depth, 0);
  const std::vector<int> b = elements(f.b, 8, f.depth, 6, unused);
  std::vector<std::uint32_t> in(512, 0xffffffffu);
  std::uint32_t seed = 7;
  for (unsigned l = 0; l < 32; ++l) in[384 + l] = 0;
  for (unsigned r = 0; r < f.rows; ++r)
    for (unsigned k = 0; k < stored; ++k) {
      unsigned at = k;
      if (f.sparse && f.width == 32) {
        at = 2 * k + random_of(seed) % 2;
        const metadata_place p = place_of(f, r, k);
        in[384 + r % 8 * 4 + p.lane] |= (at % 2 ? 0xeu : 0x4u) << p.bit;
      } else if (f.sparse) {
        static constexpr unsigned pairs[6][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};
        const unsigned group = k / 2, pair = (r * 5 + group * 7) % 6;
        at = 4 * group + pairs[pair][k % 2];
        const metadata_place p = place_of(f, r, group);
        in[384 + r % 8 * 4 + p.lane] |= pairs[pair][k % 2] << (p.bit + 2 * (k % 2));
      }
      whole[r * f.depth + at] = a[r * stored + k];
    }
  const auto set = [&](unsigned first, unsigned q, unsigned lane, unsigned e, std::uint32_t bits) {
    std::uint32_t& word = in[first + 32 * q + lane];
    if (e == 0) word = 0;
    word |= bits << (e * (f.width % 32));
  };
  for (unsigned k = 0; k < stored; ++k)
    for (unsigned r = 0; r < f.rows; ++r)
      set(0, k / (4 * run) * halves + r / 8, r % 8 * 4 + k / run % 4, k % run, f.a.encode(a[r * stored + k]));
  for (unsigned k = 0; k < f.depth; ++k)
    for (unsigned n = 0; n < 8; ++n)
      set(128, k / (4 * run), n * 4 + k / run % 4, k % run, f.b.encode(b[n * f.depth + k]));
  const bool floating = f.width > 8 || f.a.name[0] == 'e';
  const float one = 1;
  for (unsigned i = 256; i < 384; ++i)
    if (floating) std::memcpy(&in[i], &one, 4);
    else in[i] = 1;
  std::ofstream(place_ / "in.bin", std::ios::binary).write(reinterpret_cast<const char*>(in.data()), 2048);
  const auto o = heddle::test::run_program(
      {HEDDLE_PROGRAM, "run", "--quiet", "--kernel",
       std::string(HEDDLE_SOURCE "/tests/system/tensor/mma_forms.ptx:") + f.kernel, "--gpu", "h100", "--grid", "1",
       "--block", "32", "--arg", "in:in.bin", "--arg", "out:512:d.bin"},
      {place_});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto words = as<std::uint32_t>(heddle::test::content(place_ / "d.bin"));
  for (unsigned r = 0; r < f.rows; ++r)
    for (unsigned n = 0; n < 8; ++n) {
      int sum = 1;
      for (unsigned k = 0; k < f.depth; ++k) {
        const int x = whole[r * f.depth + k], y = b[n * f.depth + k];
        const bool bits = std::string(f.a.name) == "b1";
        sum += bits ? __builtin_popcount(static_cast<unsigned>(f.differ ? x ^ y : x & y)) : x * y;
      }
      const std::uint32_t word = words[32 * (r / 8 * 2 + n % 2) + r % 8 * 4 + n / 2];
      float value;
      std::memcpy(&value, &word, 4);
      ASSERT_EQ(floating ? static_cast<int>(value) : static_cast<int>(word), sum) << "row " << r << " column " << n;
    }
}

INSTANTIATE_TEST_SUITE_P(, mma_forms, ::testing::ValuesIn(forms),
                         [](const auto& p) { return std::string(p.param.kernel); });

}  // namespace mma_forms_test

// SPDX-License-Identifier: MIT
// Instructions with one or two operands of 8 or 16 bits, on all operand values. They are lowered for a GPU and
// executed one warp at a time by the functions that its SMs call; conformance_test.cpp covers the path through driver,
// SMs and memory with fewer operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "exhaustive_families.h"
#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "tests/conformance/reference/byte_operation.h"
#include "tests/conformance/reference/pair_operation.h"
#include "tests/conformance/reference/straight_kernel.h"
#include "tests/conformance/reference/straight_reference.h"

namespace heddle::conformance {
namespace exhaustive_test {

using u32 = std::uint32_t;
constexpr unsigned lanes = simt::warp_size;
constexpr unsigned row_length = pair_operation::row_length;

/// A case with the distinct kernels that the lowerings for different GPUs produce, and the number of GPUs that reject
/// it.
struct subject {
  explicit subject(const exhaustive_case& e)
      : of(e), module(ptx::parse(straight_module_of(e.instruction), "exhaustive.ptx")), reference(*module) {
    static std::map<std::string, gpu_config> configs;
    for (const char* gpu : {"gtx1080", "v100", "h100"}) {
      if (configs.count(gpu) == 0) configs.emplace(gpu, load_config(gpu));
      try {
        auto k = std::make_unique<straight_kernel>(e.instruction, module, configs.at(gpu));
        bool known = false;
        for (const auto& [name, other] : kernels) known |= other->values() == k->values();
        if (!known) kernels.emplace_back(gpu, std::move(k));
      } catch (const input_error&) {
        ++refused;
      }
    }
  }

  exhaustive_case of;
  std::shared_ptr<const ptx::ast_module> module;
  straight_reference reference;
  std::vector<std::pair<std::string, std::unique_ptr<straight_kernel>>> kernels;
  unsigned refused = 0;
};

/// Counts the differences and reports the first three of each instruction.
class judge {
 public:
  judge(const exhaustive_case& e, const std::string& gpu) : case_(e.instruction), gpu_(gpu) {}
  void differs(const warp_operands& in, unsigned lane, std::uint64_t got, std::uint64_t expected) {
    if (++bad_ > 3) return;
    ADD_FAILURE() << gpu_ << ": " << case_.name << " of " << std::hex << in[0][lane] << ", " << in[1][lane] << ", "
                  << in[2][lane] << ": got " << got << ", expected " << expected << "\n  " << case_.code;
  }
  [[nodiscard]] std::uint64_t bad() const { return bad_; }

 private:
  const conformance_case& case_;
  std::string gpu_;
  std::uint64_t bad_ = 0;
};

using row_of_operands = std::array<u32, 4>;

u32 mixed(u32 v) { return v * 0x9e3779b1u >> 7; }

/// Both halves take all values, but different ones at a time.
u32 two_halves(u32 v) { return v | (v * 0x9e35u + 0x1234u) << 16; }

/// All operands of an instruction with one operand; bits above the byte or half vary, which the instruction must
/// ignore.
std::vector<row_of_operands> all_operands(operand_shape shape) {
  std::vector<row_of_operands> rows;
  if (shape == operand_shape::byte)
    for (u32 v = 0; v < 256; ++v)
      for (const u32 above : {0u, 0xffffff00u, 0x00000100u, mixed(v) << 8}) rows.push_back({v | above});
  else
    for (u32 v = 0; v < 65536; ++v) rows.push_back({shape == operand_shape::half ? v : two_halves(v)});
  return rows;
}

/// Runs all rows on a kernel and compares the results with the reference.
void compare(subject& s, const std::vector<row_of_operands>& rows, const std::vector<std::uint64_t>& expected) {
  const bool divides = s.of.instruction.divides;
  for (auto& [gpu, kernel] : s.kernels) {
    judge verdict(s.of, gpu);
    warp_operands in{};
    warp_results out;
    for (std::size_t first = 0; first < rows.size(); first += lanes) {
      for (unsigned lane = 0; lane < lanes; ++lane)
        for (unsigned k = 0; k < 4; ++k) in[k][lane] = rows[first + lane][k];
      kernel->run(in, out);
      for (unsigned lane = 0; lane < lanes; ++lane)
        if (!agrees(s.of.instruction.allowed, out.of(lane), expected[first + lane]) && !(divides && in[1][lane] == 0))
          verdict.differs(in, lane, out.of(lane), expected[first + lane]);
    }
  }
}

/// The floating-point type of the operands, or none.
isa::dtype operand_type(const exhaustive_case& e) {
  const std::string& name = e.instruction.name;
  const std::string type = name.substr(name.rfind('.') + 1);
  return type == "f16" || type == "f16x2"     ? isa::dtype::f16
         : type == "bf16" || type == "bf16x2" ? isa::dtype::bf16
                                              : isa::dtype::none;
}

/// At least 256 numbers of 16 bits, depending on the type of the operands. f16: every exponent with both signs and the
/// significands 1.0, the next one, a half (the quiet NaN) and the greatest, hence zeros, subnormal numbers, infinities
/// and NaNs. bf16: every exponent with both signs, and with these significands the exponents at both ends and around
/// 1.0. Integers: 0, 1, -1, the least and greatest, powers of two and their negatives with their neighbours, all shift
/// amounts and more, then arbitrary ones.
std::vector<u32> well_chosen(isa::dtype t) {
  std::vector<u32> v;
  const auto add = [&v](u32 n) {
    if (std::find(v.begin(), v.end(), n & 0xffff) == v.end()) v.push_back(n & 0xffff);
  };
  const auto both_signs = [&add](u32 n) { add(n), add(n | 0x8000); };
  if (t == isa::dtype::f16)
    for (u32 e = 0; e < 32; ++e)
      for (const u32 fraction : {0u, 1u, 0x200u, 0x3ffu}) both_signs(e << 10 | fraction);
  if (t == isa::dtype::bf16)
    for (u32 e = 0; e < 256; ++e) {
      both_signs(e << 7 | (e % 3 == 0 ? 0 : e % 3 == 1 ? 0x55 : 0x7f));
      if (e > 9 && e < 246 && (e < 118 || e > 136)) continue;
      for (const u32 fraction : {0u, 1u, 0x40u, 0x7fu}) both_signs(e << 7 | fraction);
    }
  for (u32 n = 0; t == isa::dtype::none && n <= 33; ++n) add(n), add(0 - n);
  for (u32 k = 0; t == isa::dtype::none && k < 16; ++k)
    for (const u32 near : {0u, 1u, 0xffffu}) add((1u << k) + near), add(near - (1u << k));
  for (u32 n = 1; v.size() < 256 || v.size() % lanes != 0; ++n) add(mixed(n));
  return v;
}

/// One pair of operands; packed instructions have a second pair in the high halves.
struct problem {
  u32 a, b, other_a, other_b;
  bool two;
  [[nodiscard]] row_of_operands operands() const {
    return two ? row_of_operands{a | other_a << 16, b | other_b << 16} : row_of_operands{a, b};
  }
  [[nodiscard]] u32 result(const pair_operation& o) const {
    return two ? o.one(a, b) | o.one(other_a, other_b) << 16 : o.one(a, b);
  }
};

/// All pairs of these numbers; the high halves also take all of them.
std::vector<problem> well_chosen_pairs(const exhaustive_case& e) {
  const std::vector<u32> v = well_chosen(operand_type(e));
  std::vector<problem> all;
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j)
      all.push_back({v[i], v[j], v[(i + 17 * j) % v.size()], v[(j + 5) % v.size()], e.shape == operand_shape::halves});
  return all;
}

/// Compares the fast reference for all pairs with the scalar reference, on every `step`-th pair.
void compare_references(subject& s, const pair_operation& quick, const std::vector<problem>& pairs, std::size_t step) {
  unsigned bad = 0;
  for (std::size_t k = 0; k < pairs.size() && bad < 3; k += step) {
    if (s.of.instruction.divides && pairs[k].b == 0) continue;
    const std::uint64_t expected = s.reference.run(pairs[k].operands().data());
    if (pairs[k].result(quick) == expected) continue;
    ++bad;
    ADD_FAILURE() << "the references of " << s.of.instruction.name << " differ: " << std::hex << pairs[k].a << ", "
                  << pairs[k].b << ": " << pairs[k].result(quick) << ", scalar " << expected;
  }
}

std::unique_ptr<pair_operation> quick_reference(subject& s) {
  const scalar_operation* o = s.reference.only();
  std::unique_ptr<pair_operation> quick = o != nullptr ? resolve_pair(*o) : nullptr;
  if (!quick) ADD_FAILURE() << "no reference for all pairs of " << s.of.instruction.name;
  return quick;
}

/// Counts of compared instructions, and of those that none of the three GPUs supports.
struct tally {
  unsigned instructions = 0, kernels = 0, refused = 0;
  std::uint64_t rows = 0;
  void count(const subject& s, std::uint64_t of_rows) {
    ++instructions;
    kernels += static_cast<unsigned>(s.kernels.size());
    refused += s.refused;
    rows += of_rows * s.kernels.size();
    EXPECT_FALSE(s.kernels.empty()) << s.of.instruction.name << " is refused by all GPUs";
  }
  void report() const {
    std::cout << instructions << " instructions, " << kernels << " different kernels, " << rows
              << " results compared, refused " << refused << " times\n";
  }
};

TEST(exhaustive, one_operand_of_8_and_16_bits) {
  tally t;
  for (const exhaustive_case& e : exhaustive_families()) {
    if (e.instruction.operands != 1) continue;
    subject s(e);
    const std::vector<row_of_operands> rows = all_operands(e.shape);
    std::vector<std::uint64_t> expected;
    expected.reserve(rows.size());
    for (const row_of_operands& r : rows) expected.push_back(s.reference.run(r.data()));
    compare(s, rows, expected);
    t.count(s, rows.size());
  }
  t.report();
  EXPECT_GT(t.instructions, 150u);
}

/// Bytes k of a and j of b take all pairs of values, for any k and j; different bytes have different values.
row_of_operands four_pairs(u32 a, u32 b) {
  return {a * 0x01010101u ^ 0x5a00c3ffu, b * 0x01010101u ^ 0x00a5963cu, mixed(a << 8 | b) * 77u};
}

TEST(exhaustive, two_operands_of_8_bits) {
  std::vector<row_of_operands> rows;
  for (u32 r = 0; r < 65536; ++r) rows.push_back(four_pairs(r >> 8, r & 0xff));
  std::vector<std::uint64_t> expected(rows.size());
  tally t;
  for (const exhaustive_case& e : exhaustive_families()) {
    if (e.shape != operand_shape::bytes) continue;
    subject s(e);
    const byte_operation quick(*s.reference.only());
    for (std::size_t k = 0; k < rows.size(); ++k) expected[k] = quick(rows[k][0], rows[k][1], rows[k][2]);
    for (std::size_t k = 0; k < rows.size(); k += 257)
      ASSERT_EQ(expected[k], s.reference.run(rows[k].data()))
          << "the references of " << e.instruction.code << " differ";
    compare(s, rows, expected);
    t.count(s, rows.size());
  }
  t.report();
  EXPECT_GT(t.instructions, 200u);
}

bool of_16_bit_pairs(const exhaustive_case& e) {
  return e.instruction.operands == 2 && e.shape != operand_shape::bytes;
}

TEST(exhaustive, pairs_of_well_chosen_halves) {
  tally t;
  for (const exhaustive_case& e : exhaustive_families()) {
    if (!of_16_bit_pairs(e)) continue;
    subject s(e);
    const std::unique_ptr<pair_operation> quick = quick_reference(s);
    if (!quick) continue;
    const std::vector<problem> pairs = well_chosen_pairs(e);
    compare_references(s, *quick, pairs, 61);
    std::vector<row_of_operands> rows;
    std::vector<std::uint64_t> expected;
    rows.reserve(pairs.size());
    expected.reserve(pairs.size());
    for (const problem& p : pairs) rows.push_back(p.operands()), expected.push_back(p.result(*quick));
    compare(s, rows, expected);
    t.count(s, rows.size());
  }
  t.report();
  EXPECT_GT(t.instructions, 150u);
}

/// The part k of n (from 1) selected by HEDDLE_EXHAUSTIVE_PART=k/n; by default 1/1.
std::pair<unsigned, unsigned> part_asked_for() {
  const char* text = std::getenv("HEDDLE_EXHAUSTIVE_PART");
  unsigned k = 1, n = 1;
  if (text != nullptr && (std::sscanf(text, "%u/%u", &k, &n) != 2 || k < 1 || k > n))
    throw std::invalid_argument(std::string("HEDDLE_EXHAUSTIVE_PART is k/n with k from 1 to n, not '") + text + "'");
  return {k, n};
}

/// One first operand with all 65,536 second operands.
class all_second_operands {
 public:
  all_second_operands(subject& s, const pair_operation& quick)
      : two_(s.of.shape == operand_shape::halves), divides_(s.of.instruction.divides), quick_(quick) {
    for (auto& [gpu, kernel] : s.kernels) runs_.push_back({kernel.get(), judge(s.of, gpu)});
  }

  void run(u32 a) {
    in_[0].fill(two_ ? a | (a ^ other_a) << 16 : a);
    for (u32 first = 0; first < 65536; first += row_length) {
      quick_.row(a, first, expected_);
      if (two_) {  // the high halves have the same second operands in another order
        quick_.row(a ^ other_a, first ^ other_b, high_);
        for (unsigned k = 0; k < row_length; ++k) expected_[k] |= high_[k] << 16;
      }
      for (unsigned at = 0; at < row_length; at += lanes) warp(first + at, expected_ + at);
    }
  }

 private:
  static constexpr u32 other_a = 0x91c5, other_b = 0x6300;  // a multiple of the row length, so rows stay intact

  void warp(u32 first, const u32* expected) {
    for (u32 k = 0; k < lanes; ++k) in_[1][k] = two_ ? (first + k) | ((first + k) ^ other_b) << 16 : first + k;
    for (auto& [kernel, verdict] : runs_) {
      kernel->run(in_, out_);
      u32 differing = 0;
      for (unsigned k = 0; k < lanes; ++k) differing |= out_.low[k] ^ expected[k];
      if (differing == 0) continue;
      for (unsigned k = 0; k < lanes; ++k)
        if (out_.low[k] != expected[k] && !(divides_ && first + k == 0))
          verdict.differs(in_, k, out_.low[k], expected[k]);
    }
  }

  struct one_run {
    straight_kernel* kernel;
    judge verdict;
  };
  bool two_, divides_;
  const pair_operation& quick_;
  std::vector<one_run> runs_;
  warp_operands in_{};
  warp_results out_;
  u32 expected_[row_length], high_[row_length];
};

const std::vector<exhaustive_case>& cases_of_16_bit_pairs() {
  static const std::vector<exhaustive_case> chosen = [] {
    std::vector<exhaustive_case> all = exhaustive_families();
    all.erase(std::remove_if(all.begin(), all.end(), [](const exhaustive_case& e) { return !of_16_bit_pairs(e); }),
              all.end());
    return all;
  }();
  return chosen;
}

/// One test per instruction, selected by its index in cases_of_16_bit_pairs().
class pairs_of_halves : public testing::TestWithParam<unsigned> {};

TEST_P(pairs_of_halves, all) {
  const auto [part, parts] = part_asked_for();
  if (GetParam() % parts != part - 1) GTEST_SKIP() << "in another part";
  const exhaustive_case& e = cases_of_16_bit_pairs().at(GetParam());
  subject s(e);
  const std::unique_ptr<pair_operation> quick = quick_reference(s);
  ASSERT_NE(quick, nullptr);
  compare_references(s, *quick, well_chosen_pairs(e), 1);
  all_second_operands second(s, *quick);
  for (u32 a = 0; a < 65536; ++a) second.run(a);
  tally t;
  t.count(s, std::uint64_t{1} << 32);
  t.report();
}

/// "add_rn_f16".
std::string name_of(const testing::TestParamInfo<unsigned>& info) {
  std::string name = cases_of_16_bit_pairs().at(info.param).instruction.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(long_exhaustive, pairs_of_halves,
                         testing::Range(0u, static_cast<unsigned>(cases_of_16_bit_pairs().size())), name_of);

}  // namespace exhaustive_test
}  // namespace heddle::conformance

// SPDX-License-Identifier: MIT
// Every instruction with every type, rounding and modifier, on edges and random operands: the simulated GPU against the scalar
// reference, which knows nothing of lowering, warps or machine instructions. What the GPU refuses by name is listed at the end.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "config/error.h"
#include "families.h"
#include "frontend/ptx/ast.h"
#include "machine.h"

namespace heddle::conformance {
namespace {

using numbers = std::vector<std::uint64_t>;

std::vector<std::uint8_t> bytes_of(const numbers& v) {
  std::vector<std::uint8_t> b(v.size() * 8);
  std::memcpy(b.data(), v.data(), b.size());
  return b;
}

numbers numbers_of(const std::vector<std::uint8_t>& b) {
  numbers v(b.size() / 8);
  std::memcpy(v.data(), b.data(), b.size());
  return v;
}

double as_float(std::uint64_t v, isa::dtype t) {
  if (t == isa::dtype::bf16) v <<= 16;
  if (t == isa::dtype::f16) {
    const bool subnormal = (v & 0x7c00) == 0, special = (v & 0x7c00) == 0x7c00;
    const double magnitude = subnormal ? std::ldexp(static_cast<double>(v & 0x3ff), -24)
                             : !special ? std::ldexp(static_cast<double>((v & 0x3ff) | 0x400), static_cast<int>(v >> 10 & 31) - 25)
                             : (v & 0x3ff) != 0 ? std::nan("") : HUGE_VAL;
    return v >> 15 & 1 ? -magnitude : magnitude;
  }
  const auto low = static_cast<std::uint32_t>(v);
  float f;
  std::memcpy(&f, &low, sizeof f);
  return static_cast<double>(f);
}

/// Whether a result is what the ISA allows when `expected` is the exact result rounded to nearest.
bool agrees(const tolerance& t, std::uint64_t got, std::uint64_t expected) {
  if (got == expected) return true;
  if (t.type == isa::dtype::f64) {
    const float_format f = format_of(t.type);
    return f.is_nan(got) && f.is_nan(expected);
  }
  if (t.what == tolerance::kind::bits) return false;
  const double g = as_float(got, t.type), e = as_float(expected, t.type);
  if (std::isnan(g) || std::isnan(e)) return std::isnan(g) && std::isnan(e);
  if (std::isinf(g) || std::isinf(e)) return false;
  if (t.type == isa::dtype::f16 && std::fabs(g - e) <= 0x1p-24) return true;   // a unit of the subnormal numbers
  if (t.type == isa::dtype::f16 || t.type == isa::dtype::bf16) return std::fabs(g - e) <= t.bound * std::fabs(e) * (1 + 0x1p-10);
  const double ulp = std::ldexp(1.0, std::max(std::ilogb(e == 0 ? 1e-45 : e), -126) - 23), error = std::fabs(g - e) - ulp / 2;
  switch (t.what) {
    case tolerance::kind::ulp: return error <= t.bound * ulp;
    case tolerance::kind::absolute: return error <= t.bound;
    case tolerance::kind::logarithm: return error <= t.bound * std::max(1.0, std::fabs(e));   // absolute near 1, relative elsewhere
    default: return error <= t.bound * std::fabs(e) || error <= ulp;
  }
}

struct outcome {
  std::set<std::string> refused;
  unsigned differing = 0, compared = 0;
};

std::string describe(const conformance_case& c, const numbers& rows, std::size_t r, std::uint64_t got, std::uint64_t expected) {
  char text[200];
  std::snprintf(text, sizeof text, "  row %zu: operands %llx %llx %llx %llx: got %llx, expected %llx", r,
                static_cast<unsigned long long>(rows[4 * r]), static_cast<unsigned long long>(rows[4 * r + 1]),
                static_cast<unsigned long long>(rows[4 * r + 2]), static_cast<unsigned long long>(rows[4 * r + 3]),
                static_cast<unsigned long long>(got), static_cast<unsigned long long>(expected));
  return c.family + ": " + c.name + text + "\n  " + c.code;
}

/// Runs cases of one module on the GPU and in the reference.
class bench {
 public:
  bench(const std::string& gpu, unsigned rows) : rows_(rows), machine_(gpu) {
    in_ = machine_.allocate(std::uint64_t{rows} * 32);
    out_ = machine_.allocate(std::uint64_t{rows} * 8);
  }

  template <class Rows>
  void run(const std::vector<conformance_case>& cases, const std::string& name, Rows rows_for) {
    const std::string text = module_of(cases);
    const auto ast = ptx::parse(text, name);
    const unsigned module = machine_.load(text, name);
    for (std::size_t k = 0; k < cases.size(); ++k) one(cases[k], *ast, module, "k" + std::to_string(k), rows_for(cases[k]));
  }

  outcome result;

 private:
  void one(const conformance_case& c, const ptx::ast_module& ast, unsigned module, const std::string& kernel, const numbers& rows) {
    scalar_launch launch;
    launch.block[0] = 256;
    launch.grid[0] = rows_ / 256;
    launch.parameters = bytes_of({in_, out_});
    machine_.write(in_, bytes_of(rows));
    machine_.write(out_, std::vector<std::uint8_t>(std::size_t{rows_} * 8, 0xee));
    try {
      machine_.run(module, kernel, launch);
    } catch (const input_error& e) {
      result.refused.insert(c.family + ": " + c.name + "  (" + e.what() + ")");
      return;
    }
    std::vector<memory_piece> memory(2);
    memory[0] = {in_, bytes_of(rows)};
    memory[1] = {out_, std::vector<std::uint8_t>(std::size_t{rows_} * 8, 0xee)};
    run_reference(scalar_program(ast, kernel), launch, memory);
    const numbers got = numbers_of(machine_.read(out_, std::size_t{rows_} * 8)), expected = numbers_of(memory[1].bytes);
    unsigned bad = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (agrees(c.allowed, got[r], expected[r])) continue;
      if (++bad <= 3) ADD_FAILURE() << describe(c, rows, r, got[r], expected[r]);
    }
    ++result.compared;
    if (bad != 0) ++result.differing;
    if (bad > 3) std::cout << "  " << c.name << ": " << bad << " of " << rows_ << " rows differ\n";
  }

  unsigned rows_;
  machine machine_;
  std::uint64_t in_ = 0, out_ = 0;
};

void report(const outcome& o, const std::string& gpu) {
  std::cout << gpu << ": " << o.compared << " instructions compared, " << o.differing << " differ, " << o.refused.size() << " refused by name\n";
  for (const std::string& r : o.refused) std::cout << "  refused: " << r << "\n";
}

outcome all_cases(const std::string& gpu, const std::vector<conformance_case>& cases, unsigned rows = 1792) {   // all pairs of the 40 edges, and more
  bench b(gpu, rows);
  for (std::size_t k = 0; k < cases.size(); k += 64) {
    const std::vector<conformance_case> part(cases.begin() + static_cast<std::ptrdiff_t>(k),
                                             cases.begin() + static_cast<std::ptrdiff_t>(std::min(k + 64, cases.size())));
    b.run(part, "conformance.ptx", [rows](const conformance_case& c) { return rows_of(c, rows); });
  }
  report(b.result, gpu);
  return b.result;
}

TEST(conformance, gtx1080) { EXPECT_GT(all_cases("gtx1080", all_families()).compared, 800u); }
TEST(conformance, v100) { EXPECT_GT(all_cases("v100", all_families()).compared, 800u); }

TEST(conformance, later_families_on_gtx1080) { EXPECT_FALSE(all_cases("gtx1080", later_families()).refused.empty()); }

TEST(conformance, later_families_on_h100) {
  const outcome o = all_cases("h100", later_families());
  EXPECT_TRUE(o.refused.empty());
  EXPECT_EQ(o.compared, later_families().size());
}

TEST(conformance, seldom) {
  for (const char* gpu : {"gtx1080", "v100", "h100"}) {
    const outcome o = all_cases(gpu, seldom_families());
    EXPECT_TRUE(o.refused.empty());
    EXPECT_EQ(o.compared, seldom_families().size());
  }
}

TEST(conformance, video) {
  const outcome o = all_cases("v100", video_families(), 256);
  EXPECT_TRUE(o.refused.empty());
  EXPECT_EQ(o.compared, video_families().size());
}

/// One operand: all 65536; two: all pairs of bytes, sign-extended.
numbers every_number(const conformance_case& c) {
  numbers v(std::size_t{65536} * 4);
  for (std::size_t r = 0; r < 65536; ++r) {
    v[4 * r] = c.operands == 1 ? r : extended(isa::dtype::s8, r >> 8) & 0xffff;
    v[4 * r + 1] = extended(isa::dtype::s8, r) & 0xffff;
    if (c.divides && v[4 * r + 1] == 0) v[4 * r + 1] = 1;
  }
  return v;
}

TEST(long_conformance, exhaustive_16_bits) {
  for (const char* gpu : {"gtx1080", "v100"}) {
    bench b(gpu, 65536);
    b.run(exhaustive_families(), "exhaustive.ptx", every_number);
    report(b.result, gpu);
  }
}

}  // namespace
}  // namespace heddle::conformance

// SPDX-License-Identifier: MIT
// Every instruction with every type, rounding and modifier, on edge cases and random operands. The simulated GPU is
// compared with the scalar reference, which has no lowering, warps or machine instructions. Instructions that the GPU
// rejects by name are listed at the end.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "families.h"
#include "heddle/config/error.h"
#include "heddle/frontend/ptx/syntax/ast.h"
#include "tests/conformance/reference/machine.h"

namespace heddle::conformance {
namespace conformance_test {

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

struct outcome {
  std::set<std::string> refused;
  unsigned differing = 0, compared = 0;
};

std::string describe(const conformance_case& c, const numbers& rows, std::size_t r, std::uint64_t got,
                     std::uint64_t expected) {
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
  bench(const std::string& gpu, unsigned rows, bool functional) : rows_(rows), machine_(gpu, functional) {
    in_ = machine_.allocate(std::uint64_t{rows} * 32);
    out_ = machine_.allocate(std::uint64_t{rows} * 8);
  }

  template <class Rows>
  void run(const std::vector<conformance_case>& cases, const std::string& name, Rows rows_for) {
    const std::string text = module_of(cases);
    const auto ast = ptx::parse(text, name);
    const unsigned module = machine_.load(text, name);
    for (std::size_t k = 0; k < cases.size(); ++k)
      one(cases[k], *ast, module, "k" + std::to_string(k), rows_for(cases[k]));
  }

  outcome result;

 private:
  void one(const conformance_case& c, const ptx::ast_module& ast, unsigned module, const std::string& kernel,
           const numbers& rows) {
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
    const numbers got = numbers_of(machine_.read(out_, std::size_t{rows_} * 8));
    const numbers& expected = by_reference(c, ast, kernel, launch, rows);
    unsigned bad = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (agrees(c.allowed, got[r], expected[r])) continue;
      if (++bad <= 3) ADD_FAILURE() << describe(c, rows, r, got[r], expected[r]);
    }
    ++result.compared;
    if (bad != 0) ++result.differing;
    if (bad > 3) std::cout << "  " << c.name << ": " << bad << " of " << rows_ << " rows differ\n";
  }

  /// The reference knows no GPUs: what it computes from these rows holds for all that have the same addresses.
  const numbers& by_reference(const conformance_case& c, const ptx::ast_module& ast, const std::string& kernel,
                              const scalar_launch& launch, const numbers& rows) {
    const std::vector<std::uint8_t> operands = bytes_of(rows);
    const std::string_view digested(reinterpret_cast<const char*>(operands.data()), operands.size());
    static std::map<std::tuple<std::string, std::uint64_t, std::size_t>, numbers> known;
    const std::tuple key(c.code, out_, std::hash<std::string_view>()(digested));
    if (const auto at = known.find(key); at != known.end()) return at->second;
    std::vector<memory_region> memory(2);
    memory[0] = {in_, operands};
    memory[1] = {out_, std::vector<std::uint8_t>(std::size_t{rows_} * 8, 0xee)};
    run_reference(scalar_program(ast, kernel), launch, memory);
    return known[key] = numbers_of(memory[1].bytes);
  }

  unsigned rows_;
  machine machine_;
  std::uint64_t in_ = 0, out_ = 0;
};

void report(const outcome& o, const std::string& gpu) {
  std::cout << gpu << ": " << o.compared << " instructions compared, " << o.differing << " differ, " << o.refused.size()
            << " refused by name\n";
  for (const std::string& r : o.refused) std::cout << "  refused: " << r << "\n";
}

outcome all_cases(const std::string& gpu, const std::vector<conformance_case>& cases, unsigned rows = 1792,
                  bool functional = false) {  // all pairs of the 40 edge cases, and more
  bench b(gpu, rows, functional);
  for (std::size_t k = 0; k < cases.size(); k += 64) {
    const std::vector<conformance_case> part(
        cases.begin() + static_cast<std::ptrdiff_t>(k),
        cases.begin() + static_cast<std::ptrdiff_t>(std::min(k + 64, cases.size())));
    b.run(part, "conformance.ptx", [rows](const conformance_case& c) { return rows_of(c, rows); });
  }
  report(b.result, gpu);
  return b.result;
}

TEST(conformance, gtx1080) { EXPECT_GT(all_cases("gtx1080", all_families()).compared, 800u); }
TEST(conformance, v100) { EXPECT_GT(all_cases("v100", all_families()).compared, 800u); }
TEST(conformance, h100) { EXPECT_GT(all_cases("h100", all_families(), 256).compared, 800u); }

// The same functions compute the results, so fewer rows suffice.
TEST(conformance, functionally) {
  for (const char* gpu : {"gtx1080", "v100"}) {
    EXPECT_GT(all_cases(gpu, all_families(), 256, true).compared, 800u);
    EXPECT_EQ(all_cases(gpu, rare_families(), 256, true).compared, rare_families().size());
  }
  EXPECT_EQ(all_cases("h100", later_families(), 256, true).compared, later_families().size());
  EXPECT_EQ(all_cases("v100", video_families(), 256, true).compared, video_families().size());
}

TEST(conformance, later_families_on_gtx1080) { EXPECT_FALSE(all_cases("gtx1080", later_families()).refused.empty()); }

TEST(conformance, later_families_on_h100) {
  const outcome o = all_cases("h100", later_families());
  EXPECT_TRUE(o.refused.empty());
  EXPECT_EQ(o.compared, later_families().size());
}

TEST(conformance, rare) {
  for (const char* gpu : {"gtx1080", "v100", "h100"}) {
    const outcome o = all_cases(gpu, rare_families());
    EXPECT_TRUE(o.refused.empty());
    EXPECT_EQ(o.compared, rare_families().size());
  }
}

TEST(conformance, constants) {
  for (const char* gpu : {"gtx1080", "v100", "h100"}) {
    const outcome o = all_cases(gpu, constant_families(), 256);
    EXPECT_TRUE(o.refused.empty());
    EXPECT_EQ(o.compared, constant_families().size());
  }
}

TEST(conformance, video) {
  const outcome o = all_cases("v100", video_families(), 256);
  EXPECT_TRUE(o.refused.empty());
  EXPECT_EQ(o.compared, video_families().size());
}

}  // namespace conformance_test
}  // namespace heddle::conformance

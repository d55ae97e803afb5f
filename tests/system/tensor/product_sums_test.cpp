// SPDX-License-Identifier: MIT
// Products of floats give the bits that an H100 gave: tests/hardware/tensor/README.md.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace product_sums_test {

namespace fs = std::filesystem;

const std::string data = HEDDLE_SOURCE "/tests/hardware/tensor/";

class product_sums : public ::testing::Test {
 protected:
  void SetUp() override {
    place_ = fs::path(HEDDLE_SCRATCH "/product_sums") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(place_);
  }
  void write(const char* name, const std::string& bytes) const {
    std::ofstream(place_ / name, std::ios::binary) << bytes;
  }
  /// What the kernel writes to d.bin.
  [[nodiscard]] std::string run(const std::string& kernel, const std::string& block,
                                const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{HEDDLE_PROGRAM, "run", "--quiet", "--gpu", "h100", "--kernel", kernel};
    command.insert(command.end(), {"--grid", block == "32" ? "2" : "1", "--block", block, "--shared-bytes", "16384"});
    for (const std::string& a : arguments) command.insert(command.end(), {"--arg", a});
    const auto o = heddle::test::run_program(command, {place_});
    EXPECT_EQ(o.code, 0) << kernel << "\n" << o.err;
    return heddle::test::content(place_ / "d.bin");
  }

  fs::path place_;
};

void expect_same(const std::string& got, const std::string& chip, const std::string& what) {
  ASSERT_EQ(got.size(), chip.size()) << what;
  unsigned wrong = 0;
  for (std::size_t at = 0; at + 4 <= chip.size(); at += 4) {
    std::uint32_t g, c;
    got.copy(reinterpret_cast<char*>(&g), 4, at);
    chip.copy(reinterpret_cast<char*>(&c), 4, at);
    if (g == c) continue;
    char text[80];
    std::snprintf(text, sizeof text, "word %zu: got %08x, the chip %08x", at / 4, g, c);
    if (++wrong <= 3) ADD_FAILURE() << what << ", " << text;
  }
  EXPECT_EQ(wrong, 0u) << what;
}

/// In the order of mma_out.bin. `in`: the place of its operands in mma_in.bin.
struct mma_set {
  const char* kernel;
  unsigned in;
  const char* values;
};
constexpr mma_set sets[] = {{"f16_f32", 0, "random"},     {"f16_f16", 1, "random"},     {"bf16_f32", 2, "random"},
                            {"tf32_f32", 3, "random"},    {"e4m3_f32", 4, "random"},    {"e5m2_f32", 5, "random"},
                            {"e4m3_f16", 6, "random"},    {"f16_f32", 7, "zeros"},      {"f16_f32", 8, "subnormal"},
                            {"f16_f32", 9, "infinite"},   {"f16_f32", 10, "large"},     {"f16_f32", 11, "small"},
                            {"f16_f16", 12, "zeros"},     {"f16_f16", 13, "subnormal"}, {"f16_f16", 14, "infinite"},
                            {"f16_f16", 15, "large"},     {"tf32_f32", 16, "zeros"},    {"tf32_f32", 17, "subnormal"},
                            {"tf32_f32", 18, "infinite"}, {"tf32_f32", 19, "large"},    {"tf32_f32", 20, "small"},
                            {"f16_f32_k8", 0, "random"},  {"bf16_f32_k8", 2, "random"}, {"f16_f16_k8", 1, "random"},
                            {"tf32_f32_k4", 3, "random"}};

TEST_F(product_sums, of_a_warp_are_those_of_the_chip) {
  constexpr std::size_t in_bytes = 2 * 32 * 48, out_bytes = 2 * 32 * 16;
  const std::string in = heddle::test::content(data + "mma_in.bin"), chip = heddle::test::content(data + "mma_out.bin");
  ASSERT_EQ(in.size(), 21 * in_bytes);
  ASSERT_EQ(chip.size(), std::size(sets) * out_bytes);
  for (std::size_t k = 0; k < std::size(sets); ++k) {
    write("in.bin", in.substr(sets[k].in * in_bytes, in_bytes));
    const std::string got = run(data + "products.ptx:" + sets[k].kernel, "32",
                                {"in:in.bin", "out:" + std::to_string(out_bytes) + ":d.bin"});
    expect_same(got, chip.substr(k * out_bytes, out_bytes), std::string(sets[k].kernel) + " " + sets[k].values);
  }
}

struct warpgroup_set {
  const char* kernel;
  std::size_t out_bytes;
};
constexpr warpgroup_set warpgroup_sets[] = {
    {"product_tf32_n64", 16384}, {"product_e4m3_n64", 16384}, {"product_half_n64", 8192}};

TEST_F(product_sums, of_a_warpgroup_are_those_of_the_chip) {
  const std::string in = heddle::test::content(data + "wgmma_in.bin"),
                    chip = heddle::test::content(data + "wgmma_out.bin");
  ASSERT_EQ(in.size(), 3 * 16384u);
  ASSERT_EQ(chip.size(), 40960u);
  std::size_t from = 0, at = 0;
  for (const warpgroup_set& s : warpgroup_sets) {
    write("a.bin", in.substr(from, 8192));
    write("b.bin", in.substr(from + 8192, 8192));
    const std::string got =
        run(HEDDLE_SOURCE "/tests/system/tensor/warpgroup.ptx:" + std::string(s.kernel), "128",
            {"in:a.bin", "in:b.bin", "out:" + std::to_string(s.out_bytes) + ":d.bin", "u32:128", "u32:32"});
    expect_same(got, chip.substr(at, s.out_bytes), s.kernel);
    from += 16384;
    at += s.out_bytes;
  }
}

}  // namespace product_sums_test

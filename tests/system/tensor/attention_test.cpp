// SPDX-License-Identifier: MIT
// Attention with a producer warpgroup and two consumer warpgroups that alternate: attention.cu, against a reference in
// double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace attention_test {

using json = nlohmann::ordered_json;
using ptx_runs::outcome;

constexpr unsigned width = 64, queries_per_block = 128, shared_bytes = 65592;

/// Multiples of 1/64 in [-1, 1], which f16 holds exactly.
std::vector<float> elements(std::size_t count, std::uint32_t seed) {
  std::vector<float> all(count);
  for (float& x : all) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int>(seed >> 16) % 129 - 64) / 64;
  }
  return all;
}

std::uint16_t half_of(float x) {
  if (x == 0) return 0;
  int exponent = 0;
  const float mantissa = std::frexp(std::abs(x), &exponent);  // in [0.5, 1)
  const auto bits = static_cast<unsigned>((exponent + 14) << 10) + static_cast<unsigned>(mantissa * 2048) - 1024;
  return static_cast<std::uint16_t>(bits | (x < 0 ? 0x8000u : 0u));
}

std::string halves_of(const std::vector<float>& all) {
  std::string bytes;
  for (const float x : all) {
    const std::uint16_t h = half_of(x);
    bytes.append(reinterpret_cast<const char*>(&h), sizeof h);
  }
  return bytes;
}

struct problem {
  unsigned length, heads;
  std::vector<float> q, k, v;
  problem(unsigned l, unsigned h)
      : length(l),
        heads(h),
        q(elements(std::size_t{l} * h * width, 1)),
        k(elements(std::size_t{l} * h * width, 2)),
        v(elements(std::size_t{l} * h * width, 3)) {}
};

outcome attend(const problem& p, const std::string& kernel, const json& preempt = json::array(),
               const std::string& options = "") {
  const unsigned rows = p.length * p.heads;
  const auto map = [rows](const char* buffer) -> json {
    return {
        {"tensor_map",
         {{"buffer", buffer}, {"type", "f16"}, {"size", {width, rows}}, {"box", {width, 64}}, {"swizzle", "128B"}}}};
  };
  const json job = {{"module", HEDDLE_SOURCE "/tests/system/tensor/attention.ptx"},
                    {"buffers",
                     {{"q", {{"file", "q.bin"}}},
                      {"k", {{"file", "k.bin"}}},
                      {"v", {{"file", "v.bin"}}},
                      {"o", {{"bytes", 4 * width * rows}}}}},
                    {"launches",
                     {{{"kernel", kernel},
                       {"grid", {p.length / queries_per_block, p.heads, 1}},
                       {"block", {384, 1, 1}},
                       {"shared_bytes", shared_bytes},
                       {"args",
                        {map("q"),
                         map("k"),
                         map("v"),
                         {{"buffer", "o"}},
                         {{"u32", p.length}},
                         {{"f32", 0.125 * 1.4426950408889634}}}}}}},
                    {"preempt", preempt},
                    {"outputs", {{{"buffer", "o"}, {"file", "o.bin"}}}}};
  return ptx_runs::run_job(
      {{"q.bin", halves_of(p.q)}, {"k.bin", halves_of(p.k)}, {"v.bin", halves_of(p.v)}, {"job.json", job.dump()}},
      "--gpu h100 --metrics m.json " + options);
}

/// The largest difference from the reference, of every `step`-th query.
double worst_difference(const problem& p, const outcome& o, unsigned step) {
  double worst = 0;
  std::vector<double> weight(p.length);
  for (unsigned head = 0; head < p.heads; ++head)
    for (unsigned i = head % step; i < p.length; i += step) {
      const std::size_t own = (std::size_t{head} * p.length + i) * width, first = std::size_t{head} * p.length * width;
      double most = -1e30, sum = 0;
      for (unsigned j = 0; j < p.length; ++j) {
        double score = 0;
        for (unsigned e = 0; e < width; ++e) score += double{p.q[own + e]} * double{p.k[first + j * width + e]};
        weight[j] = score * 0.125;
        most = std::max(most, weight[j]);
      }
      for (double& w : weight) sum += w = std::exp(w - most);
      for (unsigned e = 0; e < width; ++e) {
        double value = 0;
        for (unsigned j = 0; j < p.length; ++j) value += weight[j] * double{p.v[first + j * width + e]};
        float got = 0;
        std::memcpy(&got, &o.words[own + e], sizeof got);
        worst = std::max(worst, std::abs(value / sum - double{got}));
      }
    }
  return worst;
}

// Weights are rounded to f16, at most 2^-11 of each, and values are at most 1.
constexpr double bound = 1.0 / 2048;

TEST(attention, equals_the_reference_within_the_bound_of_its_type) {
  for (const auto& [length, heads] : {std::pair<unsigned, unsigned>{128, 3}, {512, 2}}) {
    const problem p(length, heads);
    for (const char* kernel : {"attention", "attention_unordered"}) {
      const outcome o = attend(p, kernel);
      ASSERT_EQ(o.code, 0) << o.err;
      EXPECT_LT(worst_difference(p, o, 5), bound) << kernel << " of " << length;
    }
  }
}

// What waits is to be seen: the producer and the consumers at mbarriers, the consumers for each other.
TEST(attention, shows_its_waits) {
  const problem p(512, 1);
  ASSERT_EQ(attend(p, "attention", json::array(), "--pipeline p.kanata").code, 0);
  const json kernel = json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json"))["kernels"][0];
  EXPECT_GT(kernel["warp_states"]["mbarrier"].get<unsigned>(), 1000u);
  EXPECT_GT(kernel["warp_states"]["barrier"].get<unsigned>(), 1000u);
  const std::string view = ptx_runs::content(ptx_runs::place_of_test() / "p.kanata");
  for (const char* op : {"HGMMA", "UTMALDG", "USETMAXREG", "MUFU.EX2"})
    EXPECT_NE(view.find(op), std::string::npos) << op;
}

TEST(attention, gives_the_same_when_it_is_preempted) {
  const problem p(256, 2);
  const outcome plain = attend(p, "attention");
  ASSERT_EQ(plain.code, 0) << plain.err;
  for (const unsigned at : {900, 3000, 7000}) {
    const json preempt = {{{"at_cycle", at}, {"mode", "switch"}, {"resume_after", 500}}};
    const outcome o = attend(p, "attention", preempt);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(o.words == plain.words) << "preempted in cycle " << at;
    EXPECT_FALSE(json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json"))["context_switches"].empty());
  }
}

}  // namespace attention_test

// SPDX-License-Identifier: MIT
// A stencil whose field lies in the shared memory of a cluster: cluster_stencil.cu, bit by bit.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/preempted_job.h"
#include "tests/system/common/ptx_run.h"

namespace cluster_stencil_test {

using json = nlohmann::ordered_json;
using ptx_runs::outcome;

struct field {
  unsigned blocks, ranks, width, rows, rounds;
};

std::vector<float> begin_of(const field& f) {
  std::vector<float> all(f.blocks * f.rows * f.width);
  for (std::size_t k = 0; k < all.size(); ++k)
    all[k] = static_cast<float>(static_cast<std::uint32_t>(k * 2654435761u) >> 8) / 65536;
  return all;
}

std::vector<float> reference(const field& f) {
  std::vector<float> old = begin_of(f), now(old.size());
  const unsigned height = f.ranks * f.rows;
  for (unsigned round = 0; round < f.rounds; ++round) {
    for (unsigned c = 0; c < f.blocks / f.ranks; ++c)
      for (unsigned y = 0; y < height; ++y)
        for (unsigned x = 0; x < f.width; ++x) {
          const std::size_t at = (std::size_t{c} * height + y) * f.width + x;
          const float above = y == 0 ? 0 : old[at - f.width], below = y + 1 == height ? 0 : old[at + f.width];
          const float left = x == 0 ? 0 : old[at - 1], right = x + 1 == f.width ? 0 : old[at + 1];
          const float sum = (above + below) + (left + right);
          now[at] = old[at] * 0.5f + sum * 0.125f;
        }
    old.swap(now);
  }
  return old;
}

outcome run(const field& f, const std::string& options = "") {
  const std::vector<float> in = begin_of(f);
  const std::string bytes(reinterpret_cast<const char*>(in.data()), 4 * in.size());
  const json job = {{"module", HEDDLE_SOURCE "/tests/system/memory/cluster_stencil.ptx"},
                    {"buffers", {{"in", {{"file", "in.bin"}}}, {"out", {{"bytes", bytes.size()}}}}},
                    {"launches",
                     {{{"kernel", "stencil"},
                       {"grid", {f.blocks}},
                       {"block", {f.width}},
                       {"cluster", {f.ranks}},
                       {"shared_bytes", 8 * f.rows * f.width},
                       {"args", {{{"buffer", "in"}}, {{"buffer", "out"}}, {{"u32", f.rows}}, {{"u32", f.rounds}}}}}}},
                    {"outputs", {{{"buffer", "out"}, {"file", "o.bin"}}}}};
  return ptx_runs::run_job({{"in.bin", bytes}, {"job.json", job.dump()}}, "--gpu h100 --metrics m.json " + options);
}

void expect_reference(const field& f, const outcome& o) {
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<float> expected = reference(f);
  ASSERT_EQ(o.words.size(), expected.size());
  EXPECT_EQ(std::memcmp(o.words.data(), expected.data(), 4 * expected.size()), 0) << f.ranks << " blocks in a cluster";
}

TEST(cluster_stencil, equals_the_reference_bit_by_bit) {
  for (const field& f :
       {field{8, 8, 128, 6, 21}, field{12, 4, 96, 3, 10}, field{6, 2, 64, 1, 9}, field{2, 1, 32, 4, 5}}) {
    expect_reference(f, run(f));
    EXPECT_GT(ptx_runs::expect_same_when_preempted(15, f.ranks, f.blocks), 5u);
  }
}

TEST(cluster_stencil, gives_the_same_with_any_number_of_threads) {
  const field f{16, 8, 64, 4, 15};
  const auto metrics = [&](const char* threads) {
    expect_reference(f, run(f, std::string("--threads ") + threads));
    json m = json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json"));
    m.erase("host");
    return m;
  };
  const json one = metrics("1");
  EXPECT_EQ(one, metrics("3"));
  // Edges of 64 columns: six blocks have two neighbours, two have one.
  EXPECT_EQ(one["kernels"][0]["memory"]["cluster"]["requests"].get<unsigned>(), 2u * 14 * 2 * 15);
}

}  // namespace cluster_stencil_test

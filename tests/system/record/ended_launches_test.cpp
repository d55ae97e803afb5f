// SPDX-License-Identifier: MIT
// What is kept of launches that have ended, of which a list may have many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/system/run/replay_fixture.h"

namespace ended_launches {

using namespace replay_fixture;

class ended_launches : public replay {
 protected:
  static kernel of(unsigned blocks, unsigned instructions, unsigned stream = 0) {
    kernel k;
    k.blocks = blocks;
    k.stream = stream;
    k.name = "_Z4test" + std::to_string(stream);
    warp_lines lines;
    for (unsigned n = 1; n < instructions; ++n) {
      if (n % 4 == 1) lines.mem("LDG.E.SYS", 2, {4}, 4, "0x7f4000000000", 4);
      else if (n % 4 == 3) lines.mem("STG.E.SYS", -1, {8, 5}, 4, "0x7f4200000000", 4);
      else lines.alu("FFMA", 5, {4, 2, 6});
    }
    lines.exit();
    for (unsigned b = 0; b < blocks; ++b) k.block({lines, lines});
    return k;
  }
  // `count` launches of the kernels kernel-0.traceg to kernel-(streams - 1).traceg in turn.
  void run_list(unsigned count, const std::vector<std::string>& options, unsigned streams = 1) {
    std::string list;
    for (unsigned n = 0; n < count; ++n) list += "kernel-" + std::to_string(n % streams) + ".traceg\n";
    write("kernelslist.g", list);
    std::vector<std::string> all{"kernelslist.g", "--metrics", "m.json", "--quiet"};
    all.insert(all.end(), options.begin(), options.end());
    const outcome o = run(all);
    EXPECT_EQ(0, o.code) << o.err;
  }
  // From the end of the metrics: this process stays small, because a new one begins with the peak of its parent.
  [[nodiscard]] double peak_bytes() const {
    std::ifstream in(place_ / "m.json", std::ios::binary);
    in.seekg(-1000, std::ios::end);
    const std::string end{std::istreambuf_iterator<char>(in), {}};
    const std::string key = "\"peak_rss_bytes\": ";
    const std::size_t at = end.find(key);
    return at == std::string::npos ? 0 : std::strtod(end.c_str() + at + key.size(), nullptr);
  }
  // Bytes that each further launch takes.
  double bytes_of_launch(unsigned few, unsigned many, const std::vector<std::string>& options) {
    run_list(few, options);
    const double before = peak_bytes();
    EXPECT_GT(before, 1e6);
    run_list(many, options);
    return (peak_bytes() - before) / (many - few);
  }
};

#if defined(__SANITIZE_ADDRESS__)
constexpr bool own_memory = false;  // sanitizers allocate more
#else
constexpr bool own_memory = true;
#endif

TEST_F(ended_launches, small_ones_take_a_few_kilobytes) {
  if (!own_memory) GTEST_SKIP();
  write("kernel-0.traceg", of(2, 21).text());
  EXPECT_LT(bytes_of_launch(3000, 7000, {"--gpu", "gtx1080", "--set", "gpu.sm_count=2"}), 12e3);
}

// 80 SMs count for 300 instructions each: 5 MB. Measured: 0.9.
TEST_F(ended_launches, large_ones_are_kept_as_sums) {
  if (!own_memory) GTEST_SKIP();
  write("kernel-0.traceg", of(80, 300).text());
  EXPECT_LT(bytes_of_launch(8, 24, {"--gpu", "v100"}), 1.5e6);
}

// With a view all counts are kept.
TEST_F(ended_launches, sums_are_those_of_all_counts) {
  for (unsigned s = 0; s < 3; ++s) write("kernel-" + std::to_string(s) + ".traceg", of(80, 200 + s, s).text());
  run_list(12, {"--gpu", "v100"}, 3);
  const json summed = metrics();
  run_list(12, {"--gpu", "v100", "--timeline", "t.json"}, 3);
  const json whole = metrics();
  for (const char* member : {"kernels", "sms", "energy", "intervals"})
    EXPECT_EQ(whole[member], summed[member]) << member;
}

// Details of up to 64 launches are collected at once, those of more one by one.
TEST_F(ended_launches, details_of_many_are_those_of_few) {
  for (unsigned s = 0; s < 3; ++s) write("kernel-" + std::to_string(s) + ".traceg", of(3, 30 + s, s).text());
  const std::vector<std::string> options{"--gpu", "gtx1080", "--set", "gpu.sm_count=2"};
  run_list(60, options, 3);
  const json few = metrics();
  run_list(90, options, 3);
  const json many = metrics();
  ASSERT_EQ(90u, many["kernels"].size());
  for (unsigned n = 0; n < 45; ++n) {
    for (const char* member : {"launch", "metrics", "lines", "code", "flops", "file"})
      EXPECT_EQ(few["kernels"][n][member], many["kernels"][n][member]) << member << " of " << n;
    EXPECT_EQ(few["kernels"][n]["energy"]["by_line"], many["kernels"][n]["energy"]["by_line"]) << n;
  }
}

}  // namespace ended_launches

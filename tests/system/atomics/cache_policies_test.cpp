// SPDX-License-Identifier: MIT
// What cache policies leave in the L2: cache_policies.cu, by the sectors that later reads miss there.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace cache_policies_test {

using json = nlohmann::ordered_json;
using ptx_runs::outcome;

constexpr std::uint64_t plain = 0, first = 0x12f0000000000000, last = 0x14f0000000000000;
constexpr unsigned kept_sectors = 16384, stream_sectors = 131072;  // 512 KiB, 4 MiB; the L2 has 1.56 MiB

json launch_of(const std::string& kernel, const std::string& buffer, unsigned sectors, const std::vector<json>& more) {
  json launch = {{"kernel", kernel},
                 {"grid", {66}},
                 {"block", {128}},
                 {"args", {{{"buffer", buffer}}, {{"buffer", "sum"}}, {{"u32", sectors}}}}};
  for (const json& m : more) launch["args"].push_back(m);
  return launch;
}

/// Bytes that the launches read and that are not in the L2.
std::vector<std::uint64_t> missed(const json& launches, const std::string& options = "") {
  const json job = {{"module", HEDDLE_SOURCE "/tests/system/atomics/cache_policies.ptx"},
                    {"buffers",
                     {{"kept", {{"bytes", kept_sectors * 32}}},
                      {"stream", {{"bytes", stream_sectors * 32}}},
                      {"sum", {{"bytes", 4}}}}},
                    {"launches", launches},
                    {"outputs", {{{"buffer", "sum"}, {"file", "o.bin"}}}}};
  const outcome o = ptx_runs::run_job({{"job.json", job.dump()}},
                                      "--gpu h100 --set l2.size_bytes=1638400 --metrics m.json " + options);
  EXPECT_EQ(o.code, 0) << o.err;
  std::vector<std::uint64_t> bytes;
  const json m = json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json"));
  for (const json& k : m.at("kernels")) bytes.push_back(k.at("memory").at("l2").at("misses").get<std::uint64_t>() * 32);
  return bytes;
}

json number(std::uint64_t n) { return {{"u64", n}}; }

/// What the last launch misses of the lines of the first one, after a stream.
std::uint64_t missed_after(const json& before, const json& stream) {
  const json again = launch_of("read", "kept", kept_sectors, {number(plain)});
  const std::vector<std::uint64_t> bytes = missed({before, stream, again});
  if (bytes.size() != 3) return ~std::uint64_t{0};
  EXPECT_GE(bytes[1], stream_sectors * 32u * 9 / 10);
  return bytes[2];
}

constexpr std::uint64_t kept_bytes = kept_sectors * 32;

TEST(cache_policies, a_stream_that_is_evicted_first_leaves_what_others_have_read) {
  const json before = launch_of("read", "kept", kept_sectors, {number(plain)});
  const auto after = [&](std::uint64_t policy) {
    return missed_after(before, launch_of("read", "stream", stream_sectors, {number(policy)}));
  };
  EXPECT_GE(after(plain), kept_bytes * 9 / 10);
  EXPECT_LE(after(first), kept_bytes / 50);
}

TEST(cache_policies, what_is_evicted_last_stays_behind_a_stream) {
  const json before = launch_of("read", "kept", kept_sectors, {number(last)});
  EXPECT_LE(missed_after(before, launch_of("read", "stream", stream_sectors, {number(plain)})), kept_bytes / 50);
}

TEST(cache_policies, of_bulk_copies_have_the_same_effect) {
  const auto after = [&](std::uint64_t kept, std::uint64_t stream) {
    return missed_after(launch_of("copy", "kept", kept_sectors, {number(kept)}),
                        launch_of("copy", "stream", stream_sectors, {number(stream)}));
  };
  EXPECT_GE(after(plain, plain), kept_bytes * 9 / 10);
  EXPECT_LE(after(plain, first), kept_bytes / 50);
  EXPECT_LE(after(last, plain), kept_bytes / 50);
}

TEST(cache_policies, that_kernels_make_have_their_effect) {
  const json before = launch_of("read", "kept", kept_sectors, {number(plain)});
  const auto made = [](const std::string& buffer, unsigned sectors, unsigned which, double fraction) {
    return launch_of("read_made", buffer, sectors, {json{{"u32", which}}, json{{"f32", fraction}}});
  };
  EXPECT_LE(missed_after(before, made("stream", stream_sectors, 0, 0)), kept_bytes / 50);
  // Half of the stream's lines would fill the L2 three times over.
  EXPECT_GE(missed_after(before, made("stream", stream_sectors, 1, 0.5)), kept_bytes * 9 / 10);
  // The first half of the buffer stays.
  const std::uint64_t half =
      missed_after(made("kept", kept_sectors, 2, 0), launch_of("read", "stream", stream_sectors, {number(plain)}));
  EXPECT_GE(half, kept_bytes * 45 / 100);
  EXPECT_LE(half, kept_bytes * 55 / 100);
}

TEST(cache_policies, give_the_same_metrics_with_two_threads) {
  const json launches = {launch_of("read", "kept", kept_sectors, {number(last)}),
                         launch_of("copy", "stream", stream_sectors, {number(first)})};
  const auto metrics = [&](const std::string& options) {
    missed(launches, options);
    json m = json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json"));
    m.erase("host");
    return m.dump();
  };
  EXPECT_TRUE(metrics("--threads 1") == metrics("--threads 2"));
}

}  // namespace cache_policies_test

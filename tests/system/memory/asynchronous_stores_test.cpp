// SPDX-License-Identifier: MIT
// st.async and red.async: values that reach another block of the cluster, and complete at its mbarrier, against
// references on the host; their forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/preempted_job.h"
#include "tests/system/common/ptx_run.h"

namespace asynchronous_stores_test {

using json = nlohmann::ordered_json;
using ptx_runs::outcome;
using words = std::vector<std::uint32_t>;

std::string bytes_of(const words& w) {
  return {reinterpret_cast<const char*>(w.data()), w.size() * sizeof(std::uint32_t)};
}

words numbers(std::size_t count) {
  words w(count);
  for (std::size_t k = 0; k < count; ++k) w[k] = static_cast<std::uint32_t>(k + 1) * 2654435761u;
  return w;
}

json job_of(const json& launch, const json& buffers) {
  return {{"module", HEDDLE_SOURCE "/tests/system/memory/asynchronous_stores.ptx"},
          {"buffers", buffers},
          {"launches", {launch}},
          {"outputs", {{{"buffer", "out"}, {"file", "o.bin"}}}}};
}

// After so many rounds, the values of each thread of a cluster are those of one of the block before.
words ring_reference(words value, unsigned ranks, unsigned threads, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    words next(value.size());
    for (unsigned b = 0; b < value.size() / 4 / threads; ++b)
      for (unsigned k = 0; k < 4 * threads; ++k) {
        const std::uint32_t v = value[b * threads * 4 + k];
        const unsigned to = b - b % ranks + (b + 1) % ranks;
        next[to * threads * 4 + k] = k % 4 == 0 ? v * 3 + round : v;
      }
    value = next;
  }
  return value;
}

TEST(asynchronous_stores, carry_values_around_a_cluster_without_its_barrier) {
  constexpr unsigned threads = 96, rounds = 7;
  for (const unsigned ranks : {1u, 2u, 4u, 8u}) {
    const words in = numbers(std::size_t{ranks} * 4 * threads * 4);
    const json launch = {{"kernel", "ring"},
                         {"grid", {ranks * 4}},
                         {"block", {threads}},
                         {"cluster", {ranks}},
                         {"shared_bytes", (rounds + 1) * (threads * 16 + 8)},
                         {"args", {{{"buffer", "out"}}, {{"u32", rounds}}}}};
    std::string first;
    for (const char* host_threads : {"1", "2", "3"}) {
      const outcome o = ptx_runs::run_job(
          {{"in.bin", bytes_of(in)}, {"job.json", job_of(launch, {{"out", {{"file", "in.bin"}}}}).dump()}},
          std::string("--gpu h100 --metrics m.json --threads ") + host_threads);
      ASSERT_EQ(o.code, 0) << o.err;
      EXPECT_EQ(o.words, ring_reference(in, ranks, threads, rounds)) << ranks << " blocks";
      json m = json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json"));
      m.erase("host");
      if (first.empty()) first = m.dump();
      EXPECT_EQ(m.dump(), first) << host_threads << " threads";
    }
    EXPECT_GT(ptx_runs::expect_same_when_preempted(15, ranks, 4 * ranks), 5u);
  }
}

TEST(asynchronous_stores, reduce_in_another_block) {
  constexpr unsigned ranks = 4, clusters = 3, threads = 64;
  const words in = numbers(ranks * clusters * threads);
  words expected;
  for (unsigned c = 0; c < clusters; ++c) {
    std::uint64_t wide = 0;
    std::uint32_t sum = 0, least = ~0u, any = 0, odd = 0;
    std::int32_t largest = INT32_MIN;
    for (unsigned k = 0; k < ranks * threads; ++k) {
      const std::uint32_t v = in[c * ranks * threads + k];
      wide += std::uint64_t{v} << 16;
      sum += v;
      least = std::min(least, v);
      largest = std::max(largest, static_cast<std::int32_t>(v));
      any |= v & 0x11111111;
      odd ^= v;
    }
    expected.insert(expected.end(), {static_cast<std::uint32_t>(wide), static_cast<std::uint32_t>(wide >> 32), sum,
                                     least, static_cast<std::uint32_t>(largest), any, odd, ranks * threads});
  }
  const json launch = {{"kernel", "reduce"},
                       {"grid", {ranks * clusters}},
                       {"block", {threads}},
                       {"cluster", {ranks}},
                       {"args", {{{"buffer", "out"}}, {{"buffer", "in"}}}}};
  const json buffers = {{"out", {{"bytes", clusters * 32}}}, {"in", {{"file", "in.bin"}}}};
  const outcome o = ptx_runs::run_job({{"in.bin", bytes_of(in)}, {"job.json", job_of(launch, buffers).dump()}},
                                      "--gpu h100 --metrics m.json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.words, expected);
  // Two warps of each block but the first send seven reductions, one of them of 64 bits, and an arrival after each.
  const json m = json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json"));
  const json& counts = m["kernels"][0]["memory"]["cluster"];
  constexpr unsigned warps = clusters * (ranks - 1) * threads / 32;
  EXPECT_EQ(counts["requests"], warps * 14);
  EXPECT_EQ(counts["bytes"], warps * 32 * (6 * 4 + 8 + 7 * 8));
  EXPECT_EQ(counts["flits"], warps * (7 * 2 + 6 * 4 + 8 + 7 * (2 + 8)) + ranks * clusters * 5);
  EXPECT_EQ(counts["barrier_arrivals"], ranks * clusters * 2);
  EXPECT_FALSE(m["kernels"][0]["memory"].contains("bulk"));
  EXPECT_GT(ptx_runs::expect_same_when_preempted(30, 1, ranks * clusters), 5u);
}

TEST(asynchronous_stores, of_other_forms_are_refused) {
  const auto refused = [](const std::string& line, const std::string& gpu, const std::string& message) {
    const std::string ptx =
        ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k() {\n  .reg .b32 %r<4>;\n"
        "  .reg .b64 %rd<2>;\n  mov.u32 %r1, 0;\n  " +
        line + "\n  ret;\n}\n";
    const outcome o = ptx_runs::run_job(
        {{"k.ptx", ptx},
         {"job.json", R"({"module": "k.ptx", "launches": [{"kernel": "k", "grid": [1], "block": [32]}]})"}},
        "--gpu " + gpu);
    EXPECT_EQ(o.code, 2) << line;
    EXPECT_NE(o.first_line().find(message), std::string::npos) << o.err;
  };
  const std::string st = "st.async.shared::cluster.mbarrier::complete_tx::bytes",
                    red = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";
  refused(st + ".u32 [%r1], %r1;", "h100", "operands");
  refused("st.async.shared::cluster.u32 [%r1], %r1, [%r1];", "h100", "unsupported form");
  refused("st.async.global.mbarrier::complete_tx::bytes.u32 [%rd1], %r1, [%r1];", "h100", "unsupported form");
  refused(red + ".exch.b32 [%r1], %r1, [%r1];", "h100", "unsupported form");
  refused(red + ".min.u64 [%r1], %rd1, [%r1];", "h100", "unsupported form");
}

}  // namespace asynchronous_stores_test

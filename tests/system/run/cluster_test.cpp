// SPDX-License-Identifier: MIT
// Thread block clusters, through jobs of the kernels of clusters.cu: their registers, where their blocks are placed,
// their barriers, against references on the host; and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/preempted_job.h"
#include "tests/system/common/ptx_run.h"

namespace cluster_test {

using json = nlohmann::ordered_json;
using ptx_runs::outcome;
using words = std::vector<std::uint32_t>;

constexpr unsigned shape_words = 16;

/// A launch of `kernel`, with the words that it finds in its buffers; the first one is written to o.bin.
struct launch {
  std::string kernel;
  json grid, block;
  json cluster = nullptr;
  std::vector<words> buffers;
  words scalars;  // after the buffers
  bool non_portable = false;
};

std::string bytes_of(const words& w) {
  return {reinterpret_cast<const char*>(w.data()), w.size() * sizeof(std::uint32_t)};
}

json job_of(const launch& l, std::vector<std::pair<std::string, std::string>>& files) {
  json k = {{"kernel", l.kernel}, {"grid", l.grid}, {"block", l.block}};
  if (!l.cluster.is_null()) k["cluster"] = l.cluster;
  if (l.non_portable) k["non_portable_cluster"] = true;
  json buffers = json::object();
  for (std::size_t b = 0; b < l.buffers.size(); ++b) {
    const std::string name = "b" + std::to_string(b);
    files.emplace_back(name + ".bin", bytes_of(l.buffers[b]));
    buffers[name] = {{"file", name + ".bin"}};
    k["args"].push_back({{"buffer", name}});
  }
  for (const std::uint32_t s : l.scalars) k["args"].push_back({{"u32", s}});
  json job;
  job["module"] = HEDDLE_SOURCE "/tests/system/run/clusters.ptx";
  job["buffers"] = buffers;
  job["launches"].push_back(k);
  if (!l.buffers.empty()) job["outputs"].push_back({{"buffer", "b0"}, {"file", "o.bin"}});
  return job;
}

outcome run(const launch& l, const std::string& options = "", const json& more = json::object(),
            const std::string& gpu = "h100") {
  std::vector<std::pair<std::string, std::string>> files;
  json job = job_of(l, files);
  job.update(more);
  files.emplace_back("job.json", job.dump());
  return ptx_runs::run_job(files, "--gpu " + gpu + " " + options);
}

void expect_refused(const launch& l, const std::string& message, const std::string& options = "",
                    const std::string& gpu = "h100") {
  const outcome o = run(l, options, json::object(), gpu);
  EXPECT_EQ(o.code, 2) << message;
  EXPECT_NE(o.first_line().find(message), std::string::npos) << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
}

json metrics_of_test() { return json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json")); }

// A grid of 12 x 4 x 2 blocks in clusters of 3 x 2 x 1: all registers of each block, and the SMs of each cluster.
TEST(clusters, have_registers_and_lie_in_one_gpc) {
  const unsigned grid[3] = {12, 4, 2}, size[3] = {3, 2, 1};
  const launch l{"shape", {12, 4, 2}, {32}, {3, 2, 1}, {words(96 * shape_words)}, {}};
  const outcome o = run(l, "--metrics m.json");
  ASSERT_EQ(o.code, 0) << o.err;
  std::map<std::uint32_t, std::set<std::uint32_t>> gpcs;  // by cluster
  for (unsigned b = 0; b < 96; ++b) {
    const unsigned at[3] = {b % grid[0], b / grid[0] % grid[1], b / grid[0] / grid[1]};
    const std::uint32_t* got = &o.words[b * shape_words];
    for (unsigned k = 0; k < 3; ++k) {
      EXPECT_EQ(got[k], at[k] % size[k]) << "block " << b;
      EXPECT_EQ(got[3 + k], size[k]) << "block " << b;
      EXPECT_EQ(got[6 + k], at[k] / size[k]) << "block " << b;
      EXPECT_EQ(got[9 + k], grid[k] / size[k]) << "block " << b;
    }
    EXPECT_EQ(got[12], at[0] % 3 + at[1] % 2 * 3) << "block " << b;
    EXPECT_EQ(got[13], 6u);
    EXPECT_EQ(got[14], 1u);
    const unsigned gpc = got[15] / 2 % 8;  // TPCs of two SMs go to the eight GPCs in turn
    gpcs[got[6] + 4 * got[7] + 8 * got[8]].insert(gpc);
  }
  EXPECT_EQ(gpcs.size(), 16u);
  for (const auto& [cluster, of_it] : gpcs) EXPECT_EQ(of_it.size(), 1u) << "cluster " << cluster;
  const json kernel = metrics_of_test()["kernels"][0];
  EXPECT_EQ(kernel["cluster"], json({3, 2, 1}));
}

TEST(clusters, of_a_launch_without_them_are_single_blocks) {
  const outcome o = run({"shape", {3, 2, 1}, {32}, nullptr, {words(6 * shape_words)}, {}}, "--metrics m.json");
  ASSERT_EQ(o.code, 0) << o.err;
  for (unsigned b = 0; b < 6; ++b) {
    const words got(o.words.begin() + b * shape_words, o.words.begin() + b * shape_words + 15);
    EXPECT_EQ(got, (words{0, 0, 0, 1, 1, 1, b % 3, b / 3, 0, 3, 2, 1, 0, 1, 0}));
  }
  EXPECT_FALSE(metrics_of_test()["kernels"][0].contains("cluster"));
}

TEST(clusters, are_as_large_as_the_kernel_requires) {
  const outcome o = run({"pairs", {6}, {32}, nullptr, {words(6)}, {}});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.words, (words{20, 21, 20, 21, 20, 21}));
}

// Each value travels around its cluster. Blocks queue: with one block on an SM, at most 8 clusters of 16 fit the chip.
words ring_reference(words value, unsigned threads, unsigned ranks, unsigned block, unsigned rounds) {
  const unsigned half = static_cast<unsigned>(value.size() / 2);
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned from = round % 2 * half, to = (round + 1) % 2 * half;
    for (unsigned own = 0; own < threads; ++own) {
      const unsigned b = own / block, rank = b % ranks, next = (b - rank + (rank + 1) % ranks) * block + own % block;
      value[to + own] = value[from + next] * 3 + round;
    }
  }
  return value;
}

launch ring_of(unsigned blocks, unsigned threads, unsigned ranks, unsigned rounds) {
  words value(2 * blocks * threads);
  for (unsigned k = 0; k < value.size(); ++k) value[k] = k * 2654435761u;
  return {"ring", {blocks}, {threads}, {ranks}, {value}, {rounds}, ranks > 8};
}

TEST(cluster_barrier, orders_a_ring_exchange) {
  for (const unsigned ranks : {1u, 2u, 3u, 8u, 16u}) {
    const unsigned blocks = ranks * 3, threads = 96, rounds = 9;
    const launch l = ring_of(blocks, threads, ranks, rounds);
    const outcome o = run(l);
    ASSERT_EQ(o.code, 0) << ranks << o.err;
    EXPECT_EQ(o.words, ring_reference(l.buffers[0], blocks * threads, ranks, threads, rounds)) << ranks;
    if (ranks > 1) {
      EXPECT_GT(ptx_runs::expect_same_when_preempted(10, ranks, 3 * ranks), 5u);
    }
  }
}

TEST(cluster_barrier, gives_the_same_with_any_number_of_threads) {
  const launch l = ring_of(64, 1024, 4, 5);
  std::string first;
  for (const char* threads : {"1", "2", "5"}) {
    const outcome o = run(l, std::string("--metrics m.json --threads ") + threads);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.words, ring_reference(l.buffers[0], 64 * 1024, 4, 1024, 5));
    json m = metrics_of_test();
    m.erase("host");
    if (first.empty()) first = m.dump();
    EXPECT_EQ(m.dump(), first) << threads << " threads";
  }
}

// More clusters than the chip holds: the rest queue until a GPC has room for all blocks of one.
TEST(clusters, queue) {
  const launch l = ring_of(16 * 12, 1024, 16, 2);
  const outcome o = run(l, "--metrics m.json --set sm.max_blocks=1 --set sm.barriers=16");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.words, ring_reference(l.buffers[0], 16 * 12 * 1024, 16, 1024, 2));
  EXPECT_EQ(metrics_of_test()["kernels"][0]["max_active_clusters"], 8);
}

TEST(cluster_barrier, waits_for_divergent_threads_and_not_for_those_that_exited) {
  constexpr unsigned ranks = 4, clusters = 3, threads = 128, all = ranks * clusters * threads;
  launch l{"divergent", {ranks * clusters}, {threads}, {ranks}, {words(all), words(clusters)}, {}};
  std::vector<std::pair<std::string, std::string>> files;
  json job = job_of(l, files);
  auto& arguments = job["launches"][0]["args"];
  std::swap(arguments[0], arguments[1]);  // the counters come first
  files.emplace_back("job.json", job.dump());
  const outcome o = ptx_runs::run_job(files, "--gpu h100");
  ASSERT_EQ(o.code, 0) << o.err;
  for (unsigned k = 0; k < all; ++k) {
    const bool exits = k % threads % 16 == 5 || k / threads % ranks == 3;
    EXPECT_EQ(o.words[k], exits ? 0 : ranks * threads) << "thread " << k;
  }
  EXPECT_GT(ptx_runs::expect_same_when_preempted(20, 1, ranks * clusters), 5u);
}

// The latency is that of the configuration; with its default, that of a chip.
TEST(cluster_barrier, takes_the_configured_time) {
  const auto cycles = [](unsigned latency) {
    constexpr unsigned rounds = 100;
    const outcome o = run({"barriers", {2}, {32}, {2}, {words(2)}, {rounds}},
                          "--set cluster.barrier_latency_cycles=" + std::to_string(latency));
    EXPECT_EQ(o.code, 0) << o.err;
    return o.words.empty() ? 0.0 : o.words[0] / static_cast<double>(rounds);
  };
  const double usual = cycles(89), longer = cycles(289);
  EXPECT_NEAR(longer - usual, 200, 1);
  EXPECT_NEAR(usual, 102, 0.03 * 102);  // arrive.relaxed and wait on a B300
}

TEST(cluster_barrier, is_a_state_of_its_own) {
  const outcome o = run({"barriers", {2}, {32}, {2}, {words(2)}, {20}}, "--metrics m.json --pipeline p.kanata");
  ASSERT_EQ(o.code, 0) << o.err;
  const json kernel = metrics_of_test()["kernels"][0];
  EXPECT_GT(kernel["warp_states"]["cluster_barrier"].get<std::uint64_t>(), 20u * 90);
  EXPECT_EQ(kernel["warp_states"]["barrier"], 0);
  EXPECT_GE(kernel["warp_cycles"]["sync"], kernel["warp_states"]["cluster_barrier"]);
  EXPECT_NE(ptx_runs::content(ptx_runs::place_of_test() / "p.kanata").find("UCGABAR_WAIT"), std::string::npos);
}

TEST(cluster_barrier, that_never_completes_is_a_named_deadlock) {
  const outcome o = run({"stuck", {2}, {64}, {2}, {}, {}});
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.first_line().find("deadlock"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("waits at the barrier of its cluster"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("waits at barrier 0"), std::string::npos) << o.err;
}

TEST(clusters, of_bad_sizes_are_refused) {
  const auto shape = [](json grid, json cluster, bool non_portable = false) {
    return launch{"shape", std::move(grid), {32}, std::move(cluster), {words(1024 * shape_words)}, {}, non_portable};
  };
  expect_refused(shape({6}, {4}), "a grid of 6x1x1 blocks, expected a multiple of the cluster of 4x1x1");
  expect_refused(shape({9}, {9}), "a cluster of 9x1x1 blocks, at most 8 are portable");
  expect_refused(shape({32}, {32}, true), "a cluster of 32x1x1 blocks, h100 allows at most 16");
  expect_refused(shape({4}, {4294967295, 4294967295, 4294967295}), "h100 allows at most 16");
  expect_refused(shape({4}, {2}), "gtx1080 (compute capability 6.1) has no thread block clusters", "", "gtx1080");
  expect_refused(shape({4}, {0}), "got 0, expected at least 1");
  expect_refused(shape({4}, {1, 1, 1, 1}), "expected one to three numbers");
  expect_refused(shape({16}, {16}, true), "a cluster of 16x1x1 blocks fits no GPC of h100, where 1 block fits",
                 "--set gpu.gpc_count=16 --set sm.max_blocks=1 --set sm.barriers=16");
  expect_refused({"pairs", {6}, {32}, {3}, {words(6)}, {}},
                 "a cluster of 3x1x1 blocks, the kernel requires 2x1x1 (.reqnctapercluster)");
  expect_refused({"pairs", {5}, {32}, nullptr, {words(6)}, {}}, "a grid of 5x1x1 blocks, expected a multiple");
}

TEST(clusters, of_directives_are_checked) {
  const auto with = [](const std::string& directives, const std::string& options, unsigned blocks) {
    const std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) " +
                             directives +
                             " {\n.reg .b32 %r<4>; .reg .b64 %d<4>;\nld.param.u64 %d0, [out]; mov.u32 %r0, %ctaid.x;\n"
                             "mov.u32 %r1, %cluster_nctarank; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;\n"
                             "st.global.u32 [%d0], %r1; ret;\n}\n";
    return ptx_runs::run(text, "h100", blocks, 1, options);
  };
  EXPECT_EQ(with("", "--cluster 2", 4).words, (words{2, 2, 2, 2}));
  EXPECT_NE(with(".explicitcluster", "", 4).err.find("requires that their size is given (.explicitcluster)"),
            std::string::npos);
  EXPECT_EQ(with(".explicitcluster", "--cluster 1", 4).words, (words{1, 1, 1, 1}));
  EXPECT_NE(with(".maxclusterrank 2", "--cluster 4", 4).err.find("at most 2 (.maxclusterrank)"), std::string::npos);
  EXPECT_EQ(with(".maxclusterrank 4", "--cluster 4", 4).words, (words{4, 4, 4, 4}));
  EXPECT_EQ(with("", "--cluster 16 --non-portable-cluster", 16).words, words(16, 16));
}

TEST(occupancy_command, tells_how_many_clusters_fit) {
  const auto clusters = [](const std::string& options) {
    const auto place = ptx_runs::place_of_test();
    std::filesystem::create_directories(place);
    const std::string out = (place / "out").string();
    EXPECT_EQ(std::system(("'" HEDDLE_PROGRAM "' occupancy --block 1024 --registers-per-thread 32 --json " + options +
                           " >'" + out + "'")
                              .c_str()),
              0);
    return json::parse(ptx_runs::content(out)).value("max_active_clusters", -1);
  };
  EXPECT_EQ(clusters("--gpu h100"), -1);
  EXPECT_EQ(clusters("--gpu h100 --cluster 1"), 264);
  EXPECT_EQ(clusters("--gpu h100 --cluster 8"), 2 * (36 / 8) + 6 * (32 / 8));
  EXPECT_EQ(clusters("--gpu h100 --cluster 16 --smem 200000"), 8);
  EXPECT_EQ(clusters("--gpu h100 --cluster 17"), 0);
  EXPECT_EQ(clusters("--gpu v100 --cluster 2"), 0);
}

// A cluster's sum in two steps: each block sums its part, and adds it to every block's cell.
TEST(distributed_shared_memory, sums_over_a_cluster) {
  for (const unsigned ranks : {1u, 2u, 5u, 8u, 16u}) {
    constexpr unsigned clusters = 3, values = 3000, threads = 64;
    words in(clusters * values), expected(clusters);
    for (unsigned k = 0; k < in.size(); ++k) {
      in[k] = k * 2654435761u;
      expected[k / values] += in[k];
    }
    launch l{"split_sum", {ranks * clusters}, {threads}, {ranks}, {words(clusters), in, words(1)}, {values}, ranks > 8};
    std::vector<std::pair<std::string, std::string>> files;
    json job = job_of(l, files);
    auto& arguments = job["launches"][0]["args"];
    std::swap(arguments[0], arguments[1]);
    job["outputs"].push_back({{"buffer", "b2"}, {"file", "agree.bin"}});
    files.emplace_back("job.json", job.dump());
    const outcome o = ptx_runs::run_job(files, "--gpu h100");
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.words, expected) << ranks;
    EXPECT_EQ(ptx_runs::content(ptx_runs::place_of_test() / "agree.bin"), bytes_of({clusters * ranks * ranks}));
    if (ranks > 1) {
      EXPECT_GT(ptx_runs::expect_same_when_preempted(10, ranks, 3 * ranks), 5u);
    }
  }
}

// Values travel around the cluster, by stores of all widths to the next block.
words shared_ring_reference(const words& in, unsigned ranks, unsigned threads, unsigned rounds) {
  words value = in;
  const unsigned blocks = static_cast<unsigned>(in.size() / 4 / threads);
  for (unsigned round = 0; round < rounds; ++round) {
    words next(value.size());
    for (unsigned b = 0; b < blocks; ++b)
      for (unsigned t = 0; t < threads; ++t) {
        const unsigned to = b - b % ranks + (b % ranks + 1) % ranks;
        for (unsigned k = 0; k < 4; ++k) {
          const std::uint32_t v = value[(b * threads + t) * 4 + k];
          next[(to * threads + t) * 4 + k] = k == 0 ? v * 3 + round : v;
        }
      }
    value = next;
  }
  return value;
}

TEST(distributed_shared_memory, is_written_in_all_widths_by_any_number_of_host_threads) {
  for (const unsigned ranks : {2u, 3u, 8u}) {
    constexpr unsigned threads = 160, rounds = 6;
    words in(ranks * 5 * threads * 4);
    for (unsigned k = 0; k < in.size(); ++k) in[k] = k * 2654435761u;
    const launch l{"shared_ring", {ranks * 5}, {threads}, {ranks}, {in}, {rounds}};
    std::vector<std::pair<std::string, std::string>> files;
    json job = job_of(l, files);
    job["launches"][0]["shared_bytes"] = 2 * threads * 16;
    files.emplace_back("job.json", job.dump());
    std::string first;
    for (const char* host_threads : {"1", "3"}) {
      const outcome o = ptx_runs::run_job(files, std::string("--gpu h100 --metrics m.json --threads ") + host_threads);
      ASSERT_EQ(o.code, 0) << o.err;
      EXPECT_EQ(o.words, shared_ring_reference(in, ranks, threads, rounds)) << ranks;
      json m = metrics_of_test();
      m.erase("host");
      if (first.empty()) first = m.dump();
      EXPECT_EQ(m.dump(), first) << host_threads << " threads";
    }
    EXPECT_GT(ptx_runs::expect_same_when_preempted(15, ranks, 5 * ranks), 5u);
  }
}

// 181 cycles between the SMs of a TPC, 205 between others (H800, HPMLL/NVIDIA-Hopper-Benchmark), within 3 %.
TEST(distributed_shared_memory, takes_the_measured_time) {
  const auto cycles = [](unsigned rank) {
    constexpr unsigned steps = 200;
    const outcome o = run({"chase", {4}, {32}, {4}, {words(1)}, {rank, steps}});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.words.empty() ? 0.0 : o.words[0] / static_cast<double>(steps);
  };
  const double add = 6;  // until the next load has its address
  EXPECT_LT(cycles(0), 40);
  EXPECT_NEAR(cycles(1) - add, 181, 0.03 * 181);
  EXPECT_NEAR(cycles(2) - add, 205, 0.03 * 205);
  EXPECT_NEAR(cycles(3) - add, 205, 0.03 * 205);
}

// PTX ISA, isspacep: .shared is .shared::cta, the memory of the own block.
TEST(distributed_shared_memory, is_told_from_that_of_the_own_block) {
  const std::string text =
      ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .b32 %r<8>; .reg .b64 %d<4>; "
      ".reg .pred %p<8>; .shared .align 4 .b8 s[64];\nld.param.u64 %d0, [out]; mov.u32 %r0, %ctaid.x; "
      "mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;\nmov.u64 %d1, s; cvta.shared.u64 %d1, %d1; mov.u32 %r1, 0;\n"
      "mapa.u64 %d2, %d1, %r1;\nisspacep.shared %p0, %d2; isspacep.shared::cta %p1, %d2; isspacep.shared::cluster %p2, %d2; "
      "isspacep.shared::cta %p3, %d1; isspacep.global %p4, %d2;\nselp.u32 %r2, 1, 0, %p0; selp.u32 %r3, 10, 0, %p1; "
      "add.u32 %r2, %r2, %r3; selp.u32 %r3, 100, 0, %p2; add.u32 %r2, %r2, %r3; selp.u32 %r3, 1000, 0, %p3; "
      "add.u32 %r2, %r2, %r3; selp.u32 %r3, 10000, 0, %p4; add.u32 %r2, %r2, %r3;\nst.global.u32 [%d0], %r2; ret;\n}\n";
  EXPECT_EQ(ptx_runs::run(text, "h100", 2, 1, "--cluster 2").words, (words{1111, 1100}));
}

TEST(distributed_shared_memory, of_no_block_is_a_fault) {
  const outcome none = run({"wrong", {4}, {32}, {4}, {}, {9, 0}});
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.first_line().find("shared memory of block rank 9 of a cluster of 4 blocks"), std::string::npos)
      << none.err;
  const outcome ended = run({"wrong", {4}, {32}, {4}, {}, {2, 1}});
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.first_line().find("shared memory of block 2, which has ended"), std::string::npos) << ended.err;
}

}  // namespace cluster_test

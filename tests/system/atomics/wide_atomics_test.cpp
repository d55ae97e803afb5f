// SPDX-License-Identifier: MIT
// Atomics of 16 bytes in global memory, in shared memory, in that of another block of the cluster, and by generic
// addresses: wide_atomics.cu, against what the host computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/preempted_job.h"
#include "tests/system/common/ptx_run.h"

namespace wide_atomics_test {

using json = nlohmann::ordered_json;
using ptx_runs::outcome;

struct quad {
  std::uint64_t low, high;
  bool operator==(const quad& o) const { return low == o.low && high == o.high; }
};
using quads = std::vector<quad>;

quad cell_of(std::uint64_t count) { return {count, count * 0x9e3779b97f4a7c15u}; }

struct shape {
  unsigned blocks, threads, ranks, size, rounds;
};

json job_of(const std::string& kernel, const shape& s) {
  json launch = {{"kernel", kernel},
                 {"grid", {s.blocks}},
                 {"block", {s.threads}},
                 {"shared_bytes", s.size * 16},
                 {"args", {{{"buffer", "cells"}}, {{"buffer", "torn"}}, {{"u32", s.size}}, {{"u32", s.rounds}}}}};
  if (s.ranks > 1) launch["cluster"] = {s.ranks};
  return {{"module", HEDDLE_SOURCE "/tests/system/atomics/wide_atomics.ptx"},
          {"buffers", {{"cells", {{"file", "in.bin"}}}, {"torn", {{"bytes", 4}}}}},
          {"launches", {launch}},
          {"outputs", {{{"buffer", "cells"}, {"file", "o.bin"}}, {{"buffer", "torn"}, {"file", "torn.bin"}}}}};
}

/// The cells after a launch that finds `in`: the same ones, and metrics, with one and two threads of the host.
quads cells_after(const std::string& kernel, const shape& s, const quads& in) {
  const std::string bytes(reinterpret_cast<const char*>(in.data()), in.size() * sizeof(quad));
  quads out(in.size());
  std::string first;
  for (const char* options : {"--threads 1 --metrics m.json", "--threads 2 --metrics m.json"}) {
    const outcome o = ptx_runs::run_job({{"in.bin", bytes}, {"job.json", job_of(kernel, s).dump()}},
                                        std::string("--gpu h100 ") + options);
    EXPECT_EQ(o.code, 0) << o.err;
    if (o.words.size() * 4 != bytes.size()) return {};
    std::memcpy(out.data(), o.words.data(), bytes.size());
    EXPECT_EQ(ptx_runs::content(ptx_runs::place_of_test() / "torn.bin"), std::string(4, '\0')) << options;
    json m = json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json"));
    m.erase("host");
    const std::string now = m.dump() + ptx_runs::content(ptx_runs::place_of_test() / "o.bin");
    if (first.empty()) first = now;
    EXPECT_TRUE(now == first) << options;
  }
  return out;
}

/// Nothing that the kernel does is a race, or an access outside.
void expect_no_mistake(const std::string& kernel, const shape& s, const quads& in) {
  const std::string bytes(reinterpret_cast<const char*>(in.data()), in.size() * sizeof(quad));
  const outcome o =
      ptx_runs::run_job({{"in.bin", bytes}, {"job.json", job_of(kernel, s).dump()}}, "--gpu h100 --sanitize");
  EXPECT_EQ(o.code, 0) << o.out << o.err;
}

/// Cells that the threads numbered 0, `step`, 2 * step and so on have increased, by what has been counted in each.
void count(quads& cells, std::size_t first, const shape& s, unsigned threads, unsigned from = 0, unsigned step = 1) {
  for (unsigned t = from; t < threads; t += step)
    for (unsigned k = 0; k < s.rounds; ++k) {
      quad& cell = cells[first + (t + k) % s.size];
      cell = cell_of(cell.low + 1);
    }
}

void expect_cells(const std::string& kernel, const shape& s, const quads& in, const quads& expected) {
  EXPECT_TRUE(cells_after(kernel, s, in) == expected) << kernel;
  expect_no_mistake(kernel, s, in);
}

TEST(wide_atomics, count_in_global_memory_among_blocks_of_several_sms) {
  const shape s{16, 96, 1, 11, 5};  // attempts grow with the square of the threads
  const quads in(s.size, cell_of(0));
  quads expected = in;
  count(expected, 0, s, s.blocks * s.threads);
  expect_cells("count_global", s, in, expected);
  EXPECT_GT(ptx_runs::expect_same_when_preempted(10, 1, s.blocks), 3u);
}

TEST(wide_atomics, count_in_shared_memory) {
  const shape s{3, 128, 1, 7, 4};
  const quads in(s.blocks * s.size, cell_of(0));
  quads expected = in;
  for (unsigned b = 0; b < s.blocks; ++b) count(expected, std::size_t{b} * s.size, s, s.threads);
  expect_cells("count_shared", s, in, expected);
}

TEST(wide_atomics, count_in_shared_memory_of_another_block) {
  for (const unsigned ranks : {2u, 4u}) {
    const shape s{2 * ranks, 64, ranks, 9, 3};
    const quads in(s.blocks * s.size, cell_of(0));
    quads expected = in;
    for (unsigned b = 0; b < s.blocks; ++b) count(expected, std::size_t{b - b % ranks} * s.size, s, s.threads);
    expect_cells("count_cluster", s, in, expected);
    EXPECT_GT(ptx_runs::expect_same_when_preempted(10, ranks, s.blocks), 3u);
  }
}

TEST(wide_atomics, count_by_generic_addresses) {
  const shape s{4, 64, 1, 6, 3};
  const quads in((s.blocks + 1) * s.size, cell_of(0));
  quads expected = in;
  for (unsigned b = 0; b < s.blocks; ++b) {
    count(expected, 0, s, s.threads, 0, 2);
    count(expected, std::size_t{b + 1} * s.size, s, s.threads, 1, 2);
  }
  expect_cells("count_generic", s, in, expected);
}

quads sorted(quads q) {
  std::sort(q.begin(), q.end(), [](quad a, quad b) { return a.low < b.low; });
  return q;
}

TEST(wide_atomics, exchange_in_global_memory_among_blocks_of_several_sms) {
  const shape s{40, 64, 1, 13, 6};
  quads in(s.size + s.blocks * s.threads, cell_of(0)), all;
  for (unsigned k = 0; k < in.size(); ++k) all.push_back(cell_of(k));
  std::copy(all.begin(), all.begin() + s.size, in.begin());
  const quads out = cells_after("exchange_global", s, in);
  EXPECT_TRUE(sorted(out) == all) << "each value is there once";
  EXPECT_FALSE(out == all);
}

TEST(wide_atomics, exchange_in_shared_memory_of_a_cluster) {
  const shape s{8, 64, 4, 5, 6};
  const quads in(s.blocks * (s.size + s.threads), cell_of(0));
  quads all;
  for (unsigned k = 0; k < in.size(); ++k) all.push_back(cell_of(k));
  const quads out = cells_after("exchange_cluster", s, in);
  EXPECT_TRUE(sorted(out) == all) << "each value is there once";
}

TEST(wide_atomics, need_a_chip_that_has_them_and_an_aligned_cell) {
  const std::string head = ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n";
  const std::string body = ".reg .b64 %d<3>; .reg .b128 %q<2>;\nld.param.u64 %d0, [out]; mov.b128 %q0, {%d0, %d0};\n";
  const outcome old = ptx_runs::run(head + body + "atom.global.exch.b128 %q1, [%d0], %q0;\nret;\n}\n", "a100");
  EXPECT_EQ(old.code, 2);
  EXPECT_NE(old.first_line().find("needs compute capability 9.0"), std::string::npos) << old.err;
  const outcome odd = ptx_runs::run(head + body + "atom.global.exch.b128 %q1, [%d0+8], %q0;\nret;\n}\n", "h100");
  EXPECT_EQ(odd.code, 1);
  EXPECT_NE(odd.first_line().find("misaligned"), std::string::npos) << odd.err;
  const outcome sum = ptx_runs::run(head + body + "atom.global.add.b128 %q1, [%d0], %q0;\nret;\n}\n", "h100");
  EXPECT_EQ(sum.code, 2) << sum.err;
}

}  // namespace wide_atomics_test

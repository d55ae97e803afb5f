// SPDX-License-Identifier: MIT
// Hopper's clusters, mbarriers and bulk copies, by the kernels of hopper.cu, against the figures of hopper_figures.h.
// The figures are of an H800, an H100 and an H200, whose SMs are alike; where memory matters, an H800's is set.
#include "hopper_figures.h"

#include "explained_values.h"
#include "memory_figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>
#include <set>
#include <vector>

namespace heddle::test {

void PrintTo(const hopper_boxes& b, std::ostream* out) { *out << b.blocks << " blocks"; }

namespace hopper_test {

constexpr char module[] = "hopper.ptx";

// An H800 PCIe: fewer SMs, a lower clock, and memory of 2,039 GB/s, with the times of the H100's in nanoseconds.
constexpr char h800[] =
    " --set gpu.sm_count=114 --set gpu.core_clock_mhz=1755 --set dram.clock_mhz=1593 --set dram.t_rcd_cycles=22"
    " --set dram.t_rp_cycles=22 --set dram.t_cl_cycles=22 --set dram.t_wl_cycles=4 --set dram.t_ras_cycles=51"
    " --set dram.t_rrd_cycles=5 --set dram.t_wr_cycles=18 --set dram.t_rtp_cycles=5 --set dram.t_wtr_cycles=5"
    " --set dram.t_refi_cycles=4687 --set dram.t_rfc_pb_cycles=362 --set dram.controller_latency_cycles=262";
constexpr double h800_sms = 114, h800_hertz = 1.755e9;

std::string row_of(const std::string& what) { return "hopper h100 " + what; }

class hopper : public memory_figures {
 protected:
  /// Runs launches; cycles_ then has the first `words` words of the buffer `cycles`.
  void measure(json launches, unsigned words = 1, const json& buffers = json::object()) {
    cycle_bytes_ = std::max(8u, words * 4);
    run("h100", buffers, std::move(launches), false, module);
  }
  /// A launch of a single cluster of `ranks` blocks.
  static json cluster(const char* kernel, unsigned ranks, unsigned threads, json arguments) {
    json l = launch(kernel, ranks, threads, std::move(arguments));
    l["cluster"] = {ranks};
    l["non_portable_cluster"] = ranks > 8;
    l["shared_bytes"] = 16384;
    return l;
  }
  /// The same as measure(), of such a launch.
  void measure_cluster(const char* kernel, unsigned ranks, unsigned threads, json arguments, unsigned words = 1) {
    measure(json::array({cluster(kernel, ranks, threads, std::move(arguments))}), words);
  }
  /// Compares the model's value with a figure of at most 3 % difference, or with the recorded one if it is explained.
  void expect(const std::string& what, double model, double published, const char* source, const char* explained) {
    if (HasFatalFailure()) return;
    if (*explained == 0) return compare("h100", what, model, published, 0.03, source);
    std::printf("h100     %-34s model %8.2f  published %8.2f  %+6.1f %%  %s: %s\n", what.c_str(), model, published,
                100 * (model / published - 1), source, explained);
    EXPECT_GT(std::abs(model / published - 1), 0.03) << what << ": an explanation that has become idle";
    microbench::expect_written(row_of(what), model);
  }
  void expect(const std::string& what, double model) {
    const auto* f = std::find_if(std::begin(hopper_figures), std::end(hopper_figures),
                                 [&](const hopper_figure& k) { return what == k.what; });
    ASSERT_NE(f, std::end(hopper_figures)) << what;
    expect(what, model, f->published, f->source, f->explained);
  }
};

TEST_F(hopper, loads_in_a_cluster) {
  for (const unsigned ranks : {2u, 3u, 4u, 6u, 8u, 16u}) {
    measure_cluster("dsm_chase", ranks, 1, {argument("cycles")}, 256);
    if (HasFatalFailure()) return;
    double sum = 0;
    for (unsigned from = 0; from < ranks; ++from)
      for (unsigned to = 0; to < ranks; ++to) sum += from == to ? 0 : cycles_[from * 16 + to] / 64.0;
    expect("load in a cluster of " + std::to_string(ranks), sum / (ranks * (ranks - 1)));
    if (ranks == 2) expect("load of the own block", cycles_[0] / 64.0);
  }
}

// Bytes a cycle that arrive at an SM, with 32 warps at work: by the difference of two lengths.
TEST_F(hopper, bandwidth_of_a_cluster) {
  const auto rate = [&](const char* kernel, unsigned ranks, bool one_way) {
    const bool puts = std::string(kernel) == "dsm_puts";
    double cycles[2] = {};
    for (const unsigned k : {0u, 1u}) {
      measure_cluster(kernel, ranks, puts ? 32 : 1024, {argument("cycles"), number(8 << k), number(one_way)});
      cycles[k] = clocks_;
    }
    return 8 * (puts ? 8192 : 4096) / (cycles[1] - cycles[0]);
  };
  for (const auto& [kernel, name] : {std::pair("dsm_loads", "loads"), {"dsm_stores", "stores"}, {"dsm_puts", "puts"}})
    for (const bool one_way : {true, false})
      expect(std::string(name) + (one_way ? " one way" : " both ways") + ", bytes/cycle", rate(kernel, 2, one_way));
  for (const unsigned ranks : {2u, 4u})
    expect("TB/s of clusters of " + std::to_string(ranks),
           rate("dsm_loads", ranks, false) * h800_sms * h800_hertz * 1e-12);
}

// 573 to 625 cycles until a store is visible are taken as there and back: an H100 takes 635 so.
TEST_F(hopper, words_between_sms) {
  measure_cluster("dsm_ping_pong", 2, 32, {argument("cycles")});
  expect("store seen, there and back", clocks_ / 16.0);
  measure({launch("global_ping_pong", 2, 1, {argument("cycles"), argument("words")})}, 1,
          {{"words", {{"bytes", 256}}}});
  expect("through memory, there and back", clocks_ / 16.0);
}

TEST_F(hopper, mbarriers) {
  measure({launch("mbarrier_chains", 1, 1, {argument("cycles"), number(0), number(1000)})}, 5);
  if (HasFatalFailure()) return;
  expect("mbarrier.arrive", (cycles_[0] - cycles_[4]) / 16.0);
  expect("mbarrier.try_wait", cycles_[1] / 16.0);
  expect("mbarrier.test_wait", cycles_[2] / 16.0);
  expect("mbarrier.try_wait with a limit", cycles_[3] / 16.0);
}

TEST_F(hopper, barriers_of_a_block) {
  const auto cycles = [&](unsigned threads) {
    measure({launch("block_barriers", 1, threads, {argument("cycles")})});
    return clocks_ / 64.0;
  };
  expect("barrier of a warp", cycles(32));
  expect("barrier, each further warp", (cycles(1024) - cycles(128)) / 28);
}

TEST_F(hopper, barriers_of_a_cluster) {
  json launches;
  std::vector<std::string> rows;
  for (const unsigned ranks : {2u, 16u})
    for (const unsigned warps : {1u, 8u, 32u})
      for (const bool relaxed : {false, true}) {
        launches.push_back(
            cluster("cluster_barriers", ranks, warps * 32, {argument("cycles"), number(relaxed), number(rows.size())}));
        rows.push_back(std::string(relaxed ? "relaxed " : "") + "cluster barrier, " + std::to_string(ranks) +
                       " blocks of " + std::to_string(warps) + (warps == 1 ? " warp" : " warps"));
      }
  measure(std::move(launches), rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) expect(rows[k], HasFatalFailure() ? 0 : cycles_[k] / 64.0);
}

// Steps of chases: by bulk copies, as HPMLL measured them, and by loads. The rings are of 256 KiB, and of 4 MiB with a
// smaller L2.
TEST_F(hopper, chases_by_bulk_copies) {
  constexpr unsigned steps = 256;
  for (const bool memory : {false, true}) {
    const unsigned lines = memory ? 32768 : 2048;
    unsigned step = lines * 2 / 5;
    while (std::gcd(step, lines) != 1) ++step;
    options_ = memory ? " --set l2.size_bytes=1638400" : "";
    measure(
        {launch("ring", lines / 256, 256, {argument("list"), number(lines), number(step)}),
         launch("bulk_chase", 1, 1, {argument("cycles"), argument("list"), number(memory ? 0 : lines), number(steps)})},
        2, {{"list", {{"bytes", lines * 128}}}});
    if (HasFatalFailure()) return;
    const double copies = cycles_[0] / double{steps}, loads = cycles_[1] / double{steps};
    expect(memory ? "bulk copy from memory" : "bulk copy from the L2", copies);
    expect(memory ? "bulk copy, memory: beyond a load" : "bulk copy, L2: beyond a load", copies - loads);
  }
}

TEST_F(hopper, issue_of_bulk_copies) {
  double cycles[2] = {};
  for (const unsigned k : {0u, 1u}) {
    measure({launch("bulk_issue", 1, 1, {argument("cycles"), argument("line"), number(64 << k)})}, 1,
            {{"line", {{"bytes", 128}}}});
    cycles[k] = clocks_;
  }
  expect("bulk copies, issue", (cycles[1] - cycles[0]) / 64);
}

std::string name_of(const hopper_boxes& b) {
  std::string name = std::to_string(b.blocks) + " blocks, ";
  for (const unsigned n : b.box)
    if (n != 0) name += (name.back() == ' ' ? "" : "x") + std::to_string(n);
  return name + (b.element_bytes == 1 ? " bytes" : " elements of " + std::to_string(b.element_bytes)) + ", GiB/s";
}

unsigned log2_of(unsigned n) { return n < 2 ? 0 : 1 + log2_of(n / 2); }

class hopper_box : public hopper, public ::testing::WithParamInterface<hopper_boxes> {
 protected:
  /// Cycles of the whole chip with `boxes` boxes a block.
  double cycles(unsigned boxes) {
    const hopper_boxes& b = GetParam();
    const std::uint64_t all = std::uint64_t{b.blocks} * boxes;
    const unsigned elements = b.box[0] * std::max(1u, b.box[1]) * std::max(1u, b.box[2]);
    const unsigned bytes = elements * b.element_bytes;
    // The tensors of the log are 1,024 elements wide and high; here they end behind the last box.
    const unsigned wide = b.box[1] == 0 ? 31 : log2_of(1024 / b.box[0]);
    const unsigned high = b.box[2] == 0 ? 31 : log2_of(1024 / b.box[1]);
    const std::uint64_t columns = b.box[1] == 0 ? all : 1u << wide, lines = (all + columns - 1) / columns;
    const std::uint64_t rows = b.box[2] == 0 ? lines : 1u << high, layers = (lines + rows - 1) / rows;
    json l;
    if (b.element_bytes == 1) {
      l = launch("bulk_boxes", b.blocks, 1, {argument("data"), number(bytes), number(boxes)});
    } else {
      json size = {columns * b.box[0]}, box = {b.box[0]};
      if (b.box[1] != 0) size.push_back(rows * b.box[1]), box.push_back(b.box[1]);
      if (b.box[2] != 0) size.push_back(layers * b.box[2]), box.push_back(b.box[2]);
      const json map = {
          {"buffer", "data"}, {"type", b.element_bytes == 8 ? "s64" : "f32"}, {"size", size}, {"box", box}};
      l = launch("tensor_boxes", b.blocks, 1,
                 {{{"tensor_map", map}},
                  number(box.size()),
                  number(bytes),
                  number(boxes),
                  number(wide),
                  number(high),
                  number(b.box[0]),
                  number(b.box[1]),
                  number(b.box[2])});
    }
    l["shared_bytes"] = bytes;
    l["carveout"] = 100;
    measure(json::array({l}), 1, {{"data", {{"bytes", columns * rows * layers * bytes}}}});
    return HasFatalFailure() ? 1 : metrics_["cycles"].get<double>();
  }
  /// GiB/s of the boxes behind the first four of an SM, or eight where it has four blocks.
  void compare_boxes() {
    options_ = h800;
    const hopper_boxes& b = GetParam();
    const unsigned first = b.blocks == 114 ? 4 : 2;
    const double bytes =
        1.0 * first * b.blocks * b.box[0] * std::max(1u, b.box[1]) * std::max(1u, b.box[2]) * b.element_bytes;
    const double fewer = cycles(first), more = cycles(2 * first);
    expect(name_of(b), bytes / ((more - fewer) / h800_hertz) / (1 << 30), b.published, hopper_sources::hpmll,
           b.explained);
  }
};

TEST_P(hopper_box, reach_the_bandwidth) { compare_boxes(); }

const auto by_number = [](const auto& info) { return "n" + std::to_string(info.index); };
INSTANTIATE_TEST_SUITE_P(all, hopper_box, ::testing::ValuesIn(hopper_few_boxes), by_number);
INSTANTIATE_TEST_SUITE_P(large, hopper_box, ::testing::ValuesIn(hopper_many_boxes), by_number);

TEST(explained_hopper, figures_are_those_written_down) {
  std::set<std::string> rows;
  for (const hopper_figure& f : hopper_figures)
    if (*f.explained != 0) rows.insert(row_of(f.what));
  const auto add = [&](const auto& boxes) {
    for (const hopper_boxes& b : boxes)
      if (*b.explained != 0) rows.insert(row_of(name_of(b)));
  };
  add(hopper_few_boxes), add(hopper_many_boxes);
  EXPECT_EQ(microbench::written_rows("hopper"), rows);
}

}  // namespace hopper_test
}  // namespace heddle::test

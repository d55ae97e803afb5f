// SPDX-License-Identifier: MIT
// The memory system against figures measured on silicon: latency by footprint, bandwidth of a streaming copy, bank
// conflicts, contended atomics. The configurations name the same figures with their sources; docs/model/memory.md lists
// them.
#include "explained_values.h"
#include "memory_figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>
#include <set>
#include <vector>

namespace heddle::test {
namespace memory_test {

// Sizes in KiB, latencies in cycles. Sources: Jia et al. 2018, table 3.1; gpu-benches (RRZE-HPC, gpu-latency); beyond
// the L2 of the GTX 980 and 1080 the 153 ns that Andersch measured on Maxwell, of the P100 the V100's 154 ns.
struct levels {
  const char* gpu;
  double l1_kib, l1;
  double l2_kib, l2;
  double memory;
  const char* source[3];
};
void PrintTo(const levels& l, std::ostream* out) { *out << l.gpu; }
constexpr const char* jia = "Jia";
constexpr const char* benches = "gpu-benches";
constexpr levels pinned[] = {
    {"gtx980", 24, 82, 2048, 207, 379, {jia, jia, "Andersch"}},
    {"p100", 24, 82, 4096, 234, 439, {jia, jia, "gpu-benches (V100)"}},
    {"gtx1080", 24, 82, 2048, 216, 462, {jia, jia, "Andersch"}},
    {"v100", 128, 28, 6144, 193, 425, {jia, jia, benches}},
    {"a100", 192, 33, 40960, 206, 552, {benches, benches, benches}},
    {"h100", 256, 32, 51200, 280, 689, {benches, benches, benches}},
};

class level_latency : public memory_figures, public ::testing::WithParamInterface<levels> {
 protected:
  /// Cycles of a dependent load in a ring of `kib` KiB. A short ring is walked once to warm the caches; a long one is
  /// instead read by all SMs and then walked from its oldest lines on.
  double chase(double kib, const char* module = "memory.ptx") {
    const auto lines = static_cast<std::uint64_t>(kib * 8);
    const bool walked = lines <= 8192;
    std::uint64_t step = walked ? lines * 2 / 5 : lines / 600;
    while (std::gcd(step, lines) != 1) ++step;
    const unsigned timed = walked ? 512 : 128;  // the walk must stay among lines that the L2 has evicted
    const std::uint64_t blocks = (lines + 255) / 256;
    run(GetParam().gpu, {{"list", {{"bytes", lines * 128}}}},
        {launch("chain", blocks, 256, {argument("list"), number(lines), number(step)}),
         launch("touch", blocks, 256, {argument("list"), number(lines)}),
         launch("chase", 1, 1,
                {argument("list"), argument("cycles"), number(walked ? lines / 16 + 1 : 1), number(timed / 16)})},
        true, module);
    return static_cast<double>(clocks_) / timed;
  }
  /// Of device memory, the mean over walks that begin in different phases of its refresh: a walk meets some ten
  /// refreshes of its channels, which cost up to 200 cycles each.
  double chase_in_memory(double kib) {
    double sum = 0;
    const char* const phases[] = {"700", "1013", "1327", "1801"};
    for (const char* cycles : phases) {
      options_ = std::string(" --set cwd.launch_latency_cycles=") + cycles;
      sum += chase(kib);
    }
    return sum / static_cast<double>(std::size(phases));
  }
  void level(double kib, double published, const char* source) {
    const double model = kib > GetParam().l2_kib ? chase_in_memory(kib) : chase(kib);
    if (HasFatalFailure()) return;
    char what[48];
    std::snprintf(what, sizeof what, "latency in %.0f KiB", kib);
    compare(GetParam().gpu, what, model, published, 0.03, source);
  }
};

TEST_P(level_latency, of_l1_and_l2) {
  const levels& p = GetParam();
  level(p.l1_kib / 2, p.l1, p.source[0]);
  level(p.l1_kib * 0.9, p.l1, p.source[0]);
  level(p.l1_kib * 1.3, p.l2, p.source[1]);
  level(1024, p.l2, p.source[1]);
}

// Whether the L1 caches plain loads depends on the chip: they bypass it on GM20x and GP10x, but not on GP100 and from
// Volta on.
TEST_P(level_latency, of_plain_loads) {
  const levels& p = GetParam();
  std::string text = content(fs::path(HEDDLE_MICROBENCH) / "memory.ptx");
  for (std::size_t at; (at = text.find("ld.global.nc")) != std::string::npos;) text.replace(at, 12, "ld.global");
  const fs::path module = fs::path(HEDDLE_SCRATCH "/memory") / (std::string("plain_") + p.gpu + ".ptx");
  fs::create_directories(HEDDLE_SCRATCH "/memory");
  std::ofstream(module) << text;
  const bool past = std::string(p.gpu) == "gtx980" || std::string(p.gpu) == "gtx1080";
  const double model = chase(p.l1_kib / 2, module.c_str());
  if (!HasFatalFailure())
    compare(p.gpu, "latency of plain loads, half of L1", model, past ? p.l2 : p.l1, 0.03, p.source[past]);
}

// Footprints near the L2's size and beyond it.
TEST_P(level_latency, of_large_footprints) {
  const levels& p = GetParam();
  level(p.l2_kib * 0.95, p.l2, p.source[1]);
  level(p.l2_kib * 2, p.memory, p.source[2]);
}

INSTANTIATE_TEST_SUITE_P(all, level_latency, ::testing::ValuesIn(pinned),
                         [](const auto& info) { return std::string(info.param.gpu); });

constexpr char luo[] = "Luo et al. 2024, arXiv:2402.13499";
constexpr char luo_partitions[] = "Luo et al. 2025, arXiv:2501.12084";
constexpr char hpmll[] = "HPMLL/NVIDIA-Hopper-Benchmark, logs";
constexpr char slower_steps[] = "chains of loads alone take 32 to 36 cycles, as here; Luo's steps take more";
constexpr char of_l40[] = "gpu-benches measured 34 cycles on an L40, the model's source";
constexpr char shared_steps[] = "by another method than Huerta's, whose figure the model has";
constexpr char of_h800[] = "of an H800; an H100 takes 283 cycles (tests/hardware/h100/latency.csv)";
constexpr char one_partition[] = "between a near and a far hit; here all lines are near";
constexpr char of_4090[] = "Luo measured 273 cycles, gpu-benches 274 on an L40";
constexpr char half_of_l2[] =
    "each partition holds its own copy of a line, so that half of the L2 answers; here all of it does";
constexpr char ring[] = "a random chase hits in part; here a ring misses in each step";
constexpr char soon[] = "less than the nearer misses of the same authors";
constexpr char of_80_gb[] = "gpu-benches measured 552 cycles on an A100 of 80 GB, the model's source";
constexpr char far_4090[] = "Luo measured 541.5 cycles, the model's source";
constexpr char behind_l2[] =
    "from the L2 to memory the model has gpu-benches' 346 and 409 cycles, 79 and 112 more than Luo's";
constexpr char misses_cross[] =
    "a miss crosses the partitions once here, as a hit does; on the chip it takes 33 cycles more";

/// A published time of a load; `explained` says why the model differs by more than 3 %.
struct level_row {
  const char* gpu;
  const char* what;
  double published;  // cycles
  const char* source;
  const char* explained = "";
};
void PrintTo(const level_row& r, std::ostream* out) { *out << r.gpu << " " << r.what; }
constexpr level_row level_rows[] = {
    {"h100", "L1", 40.7, luo, slower_steps},
    {"h100", "L1", 32, hpmll},
    {"h100", "shared memory", 29.0, luo, shared_steps},
    {"h100", "L2", 263.0, luo, of_h800},
    {"h100", "L2", 264, hpmll, of_h800},  // to 13 MB
    {"h100", "L2, 44 MB", 499, hpmll, half_of_l2},
    {"h100", "memory, 79 MB", 608, hpmll, ring},
    {"h100", "memory", 478.8, luo, soon},
    {"h100", "memory", 654.5, hpmll},  // 652 to 657
    {"a100", "L1", 37.9, luo, slower_steps},
    {"a100", "L1", 32.7, hpmll},
    {"a100", "shared memory", 29.0, luo, shared_steps},
    {"a100", "L2", 261.5, luo, one_partition},
    {"a100", "L2", 203, hpmll},
    {"a100", "L2, 24 MB", 413, hpmll, half_of_l2},
    {"a100", "memory, 44 MB", 503, hpmll, ring},
    {"a100", "memory", 466.3, luo, soon},
    {"a100", "memory", 566, hpmll, of_80_gb},
    {"rtx4090", "L1", 43.4, luo, slower_steps},
    {"rtx4090", "L1", 36, hpmll, of_l40},
    {"rtx4090", "shared memory", 30.1, luo, shared_steps},
    {"rtx4090", "L2", 273, luo},
    {"rtx4090", "L2, 39 MB", 285, hpmll, of_4090},
    {"rtx4090", "L2, 71 MB", 295, hpmll, of_4090},
    {"rtx4090", "memory", 541.5, luo},
    {"rtx4090", "memory", 571, hpmll, far_4090},
    {"h100", "near hit", 258, luo_partitions},
    {"h100", "far hit", 414.1, luo_partitions},
    {"h100", "near miss", 555.5, luo_partitions, behind_l2},
    {"h100", "far miss", 743.7, luo_partitions, behind_l2},
    {"h100", "far miss, less a near one", 188.2, luo_partitions, misses_cross},
    {"a100", "near hit", 208, luo_partitions},
    {"a100", "far hit", 356.6, luo_partitions},
    {"a100", "near miss", 474.9, luo_partitions, behind_l2},
    {"a100", "far miss", 622.7, luo_partitions, behind_l2},
    {"a100", "far miss, less a near one", 147.8, luo_partitions},
};

std::string row_of(const level_row& r) {
  char published[16];
  std::snprintf(published, sizeof published, "%.1f", r.published);
  return std::string("levels ") + r.gpu + " " + r.what + " for " + published;
}

class levels_of_others : public memory_figures, public ::testing::WithParamInterface<const char*> {
 protected:
  /// Compares with all rows of the chip that have this name.
  void expect(const std::string& what, double model) {
    if (HasFatalFailure()) return;
    unsigned rows = 0;
    for (const level_row& r : level_rows) {
      if (std::string(r.gpu) != GetParam() || what != r.what) continue;
      ++rows;
      compare(r.gpu, what, model, r.published, *r.explained == 0 ? 0.03 : 1,
              std::string(r.source) + (*r.explained == 0 ? "" : ": ") + r.explained);
      if (*r.explained == 0) continue;
      EXPECT_GT(std::abs(model / r.published - 1), 0.03) << what << ": an explanation that has become idle";
      microbench::expect_written(row_of(r), model);
    }
    EXPECT_NE(rows, 0u) << what;
  }
  /// Cycles of a step in a ring of `bytes`, walked once before.
  double chase(std::uint64_t bytes) {
    const std::uint64_t lines = bytes / 128;
    std::uint64_t step = lines * 2 / 5;
    while (std::gcd(step, lines) != 1) ++step;
    const std::uint64_t blocks = (lines + 255) / 256;
    run(GetParam(), {{"list", {{"bytes", lines * 128}}}},
        {launch("chain", blocks, 256, {argument("list"), number(lines), number(step)}),
         launch("chase", 1, 1, {argument("list"), argument("cycles"), number(lines / 16 + 1), number(32)})});
    return clocks_ / 512.0;
  }
  /// Sorted cycles of loads of a word in each of 256 pages; `hit`: that the L2 has.
  const std::vector<std::uint32_t>& single_loads(bool hit) {
    constexpr unsigned loads = 256, step = 4096;
    json launches;
    if (hit) launches.push_back(launch("zeros", loads, 256, {argument("data")}));
    launches.push_back(
        launch("single_loads", 1, 1, {argument("cycles"), argument("data"), number(step), number(loads)}));
    cycle_bytes_ = loads * 4;
    run(GetParam(), {{"data", {{"bytes", loads * step}}}}, std::move(launches));
    cycle_bytes_ = 8;
    std::sort(cycles_.begin(), cycles_.end());
    return cycles_;
  }
};

TEST_P(levels_of_others, take_what_they_measured) {
  expect("L1", chase(16384));
  run(GetParam(), json::object(), {launch("shared_conflict", 1, 32, {argument("cycles"), number(1)})});
  expect("shared memory", clocks_ / 64.0);
  expect("L2", chase(524288));
  const auto& cycles = single_loads(false);
  expect("memory", HasFatalFailure() ? 0 : cycles[cycles.size() / 2]);
}

// Where an L2 ends, a smaller one does, too: L2 and ring are a 64th of the chip's.
TEST_P(levels_of_others, take_it_where_the_l2_ends) {
  const std::string gpu = GetParam();
  options_ = std::string(" --set l2.size_bytes=") + (gpu == "h100" ? "819200" : gpu == "a100" ? "655360" : "1179648");
  const auto row = [this](const char* what, unsigned megabytes) { expect(what, chase(megabytes * 15625)); };
  if (gpu == "h100") row("L2, 44 MB", 44), row("memory, 79 MB", 79);
  if (gpu == "a100") row("L2, 24 MB", 24), row("memory, 44 MB", 44);
  if (gpu == "rtx4090") row("L2, 39 MB", 39), row("L2, 71 MB", 71);
}

// The median of the nearer and of the farther half of loads. The times of hits are set, since the files have those of
// other chips and one partition: the figures tell whether hits and misses cross as they should.
TEST_P(levels_of_others, are_of_two_partitions) {
  const std::string gpu = GetParam();
  if (gpu == "rtx4090") return;  // has one
  options_ = gpu == "h100" ? " --set l2.latency_cycles=258 --set l2.far_latency_cycles=156"
                           : " --set l2.latency_cycles=208 --set l2.far_latency_cycles=149";
  double near[2] = {}, far[2] = {};
  for (const bool hit : {false, true}) {
    const auto& cycles = single_loads(hit);
    if (HasFatalFailure()) return;
    near[hit] = cycles[cycles.size() / 4], far[hit] = cycles[cycles.size() * 3 / 4];
  }
  expect("near hit", near[1]), expect("far hit", far[1]);
  expect("near miss", near[0]), expect("far miss", far[0]);
  expect("far miss, less a near one", far[0] - near[0]);
}

INSTANTIATE_TEST_SUITE_P(all, levels_of_others, ::testing::Values("h100", "a100", "rtx4090"),
                         [](const auto& info) { return std::string(info.param); });

TEST(explained_levels, are_those_written_down) {
  std::set<std::string> rows;
  for (const level_row& r : level_rows)
    if (*r.explained != 0) rows.insert(row_of(r));
  EXPECT_EQ(microbench::written_rows("levels"), rows);
}

// GB/s of reads and writes together. Jia et al. 2018, table 3.1; for the GTX Titan, 980 and 1080 the fraction of the
// peak that the same or the most similar chip reaches there (K80: 191 of 240, M60: 127 of 160, P4: 162 of 192).
struct stream {
  const char* gpu;
  double gigabytes_per_second;
  unsigned mebibytes;  // size of the larger of two copies; the difference is evaluated
};
void PrintTo(const stream& s, std::ostream* out) { *out << s.gpu; }
constexpr const char* reasons[] = {"busy_cycles", "idle_cycles", "refresh_cycles", "turnaround_cycles", "row_cycles"};
constexpr stream streams[] = {
    {"gtxtitan", 229, 8}, {"gtx980", 178, 8}, {"p100", 510, 16}, {"gtx1080", 270, 8}, {"v100", 750, 24}};

class bandwidth : public memory_figures, public ::testing::WithParamInterface<stream> {
 protected:
  /// Seconds that a copy takes, including the write-back of dirty lines.
  double seconds(std::uint64_t bytes) {
    run(GetParam().gpu, {{"from", {{"bytes", bytes}}}, {"to", {{"bytes", bytes}}}},
        {launch("copy", bytes / (256 * 64), 256, {argument("from"), argument("to")})}, true);
    return HasFatalFailure() ? 1
                             : metrics_["cycles"].get<double>() /
                                   (metrics_["gpu"]["config"]["gpu.core_clock_mhz"].get<double>() * 1e6);
  }
};

TEST_P(bandwidth, of_a_large_streaming_copy) {
  const std::uint64_t large = std::uint64_t{GetParam().mebibytes} << 20;
  const double less = seconds(large / 2);
  const double more = seconds(large);
  if (HasFatalFailure()) return;
  compare(GetParam().gpu, "GB/s of a copy", 2.0 * static_cast<double>(large / 2) / (more - less) * 1e-9,
          GetParam().gigabytes_per_second, 0.05, jia);
  // The cycles in which the DRAM bus moved data account for the copy; the other counts for the rest of the peak.
  const json& dram = metrics_["kernels"][0]["memory"]["dram"];
  const json& config = metrics_["gpu"]["config"];
  double all = 0;
  for (const char* reason : reasons) all += dram[reason].get<double>();
  const double peak = config["memory.channels"].get<double>() * config["dram.bytes_per_cycle"].get<double>() *
                      config["dram.clock_mhz"].get<double>() * 1e-3;
  std::printf("%-8s of %.0f GB/s:", GetParam().gpu, peak);
  for (const char* reason : reasons) std::printf("  %s %.1f %%", reason, 100 * dram[reason].get<double>() / all);
  std::printf("\n");
  EXPECT_NEAR(dram["busy_cycles"].get<double>() / all * peak, GetParam().gigabytes_per_second,
              0.1 * GetParam().gigabytes_per_second);
}

INSTANTIATE_TEST_SUITE_P(all, bandwidth, ::testing::ValuesIn(streams),
                         [](const auto& info) { return std::string(info.param.gpu); });

struct conflicts {
  const char* gpu;
  unsigned word_stride;  // words between neighbouring banks' first words: 2 where a bank is 8 bytes wide
  double added[5];       // cycles beyond an access without conflict, for 2, 4, 8, 16 and 32 lanes in a bank
  double tolerance[5];
  const char* source;
  const char* explained = "";
};

// Mei and Chu 2017, table 8: GTX 560 Ti, GTX 780 and GTX 980.
constexpr conflicts conflict_rows[] = {
    {"gtx480", 1, {37, 112, 261, 561, 1159}, {0.02, 0.02, 0.02, 0.02, 0.02}, "Mei"},
    {"gtxtitan",
     2,
     {35, 49, 111, 210, 437},
     {0.65, 0.16, 0.16, 0.05, 0.05},
     "Mei",
     "the first conflict costs 35 cycles, each further one 13 to 14: the model has one figure, right with 16 and 32"},
    {"gtx980", 1, {2, 6, 14, 30, 62}, {0.02, 0.02, 0.02, 0.02, 0.02}, "Mei"},
};

class bank_conflict : public memory_figures, public ::testing::WithParamInterface<conflicts> {};

TEST_P(bank_conflict, costs_what_was_measured) {
  const conflicts& c = GetParam();
  double alone = 0;
  std::set<std::string> rows;
  for (unsigned i = 0; i < 6; ++i) {
    run(c.gpu, json::object(), {launch("shared_conflict", 1, 32, {argument("cycles"), number(c.word_stride << i)})});
    if (HasFatalFailure()) return;
    const double model = clocks_ / 64.0;
    if (i == 0) {
      alone = model;
      continue;
    }
    const std::string what = std::to_string(1u << i) + " lanes in a bank: added cycles";
    compare(c.gpu, what, model - alone, c.added[i - 1], c.tolerance[i - 1],
            std::string(c.source) + (*c.explained != 0 ? ": " : "") + c.explained);
    if (*c.explained == 0) continue;
    microbench::expect_written("bank_conflict " + std::string(c.gpu) + " " + what, model - alone);
    rows.insert("bank_conflict " + std::string(c.gpu) + " " + what);
  }
  if (*c.explained != 0) {
    EXPECT_EQ(microbench::written_rows("bank_conflict " + std::string(c.gpu)), rows);
  }
}

INSTANTIATE_TEST_SUITE_P(all, bank_conflict, ::testing::ValuesIn(conflict_rows),
                         [](const auto& info) { return std::string(info.param.gpu); });

}  // namespace memory_test
}  // namespace heddle::test

// SPDX-License-Identifier: MIT
// The memory system against figures measured on silicon: latency by footprint, bandwidth of a streaming copy, bank
// conflicts, contended atomics. The configurations name the same figures with their sources; docs/model/memory.md lists
// them.
#include "explained_values.h"
#include "memory_figures.h"

#include <numeric>
#include <ostream>

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

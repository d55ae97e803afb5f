// SPDX-License-Identifier: MIT
// The memory system against figures measured on silicon: latency by footprint, bandwidth of a streaming copy, bank conflicts,
// contended atomics. The pinned figures are those that the configurations name with their sources; docs/memory.md lists them.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

json argument(const char* buffer) { return {{"buffer", buffer}}; }
json number(std::uint64_t value) { return {{"u32", value}}; }
json launch(const char* kernel, std::uint64_t blocks, unsigned threads, json arguments) {
  return {{"kernel", kernel}, {"grid", {blocks, 1, 1}}, {"block", {threads, 1, 1}}, {"carveout", 0},
          {"args", std::move(arguments)}};
}

class memory_figures : public ::testing::Test {
 protected:
  /// Runs launches of memory.ptx; the first words of buffer `cycles` are left in clocks_, the metrics in metrics_.
  void run(const std::string& gpu, json buffers, json launches, bool flush = false) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "_" + test->name();
    for (char& c : name)
      if (c == '/') c = '_';
    const fs::path place = fs::path(HEDDLE_SCRATCH) / name;
    fs::create_directories(place);
    const fs::path result = place / "cycles.bin";
    const fs::path metrics = place / "metrics.json";
    fs::remove(result);
    buffers["cycles"] = {{"bytes", 8}};
    const json job = {{"module", (fs::path(HEDDLE_MICROBENCH) / "memory.ptx").string()}, {"buffers", std::move(buffers)},
                      {"launches", std::move(launches)}, {"outputs", {{{"buffer", "cycles"}, {"file", result.string()}}}}};
    std::ofstream(place / "job.json") << job.dump(1);
    const std::string command = "'" HEDDLE_PROGRAM "' run '" + (place / "job.json").string() + "' --quiet --gpu " + gpu +
                                " --metrics '" + metrics.string() + "'" +
                                (flush ? " --set l2.flush_at_completion=true" : "") + " >'" +
                                (place / "log.txt").string() + "' 2>&1";
    const int status = std::system(command.c_str());
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << text_of(place / "log.txt");
    const std::string bytes = text_of(result);
    ASSERT_EQ(bytes.size(), 8u);
    bytes.copy(reinterpret_cast<char*>(&clocks_), sizeof clocks_);
    metrics_ = json::parse(text_of(metrics));
  }

  /// Prints model, published figure and difference; fails beyond `tolerance` (a share).
  void compare(const std::string& gpu, const std::string& what, double model, double published, double tolerance,
               const char* source) {
    std::printf("%-8s %-34s model %8.1f  published %8.1f  %+6.1f %%  %s\n", gpu.c_str(), what.c_str(), model, published,
                100 * (model / published - 1), source);
    EXPECT_NEAR(model, published, tolerance * published) << gpu << " " << what;
  }

  std::uint32_t clocks_ = 0;
  json metrics_;
};

// Sizes in KiB, latencies in cycles. Sources: Jia et al. 2018, table 3.1; gpu-benches (RRZE-HPC, gpu-latency); beyond the
// L2 of the GTX 980 and 1080 the 153 ns that Andersch measured on Maxwell, of the P100 the V100's 154 ns.
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

class latency : public memory_figures, public ::testing::WithParamInterface<levels> {
 protected:
  /// Cycles of a dependent load in a ring over `kib` KiB. A ring too long to be walked before is read by all SMs instead, and
  /// then walked from its oldest lines on.
  double chase(double kib) {
    const auto lines = static_cast<std::uint64_t>(kib * 8);
    const bool walked = lines <= 8192;
    std::uint64_t step = walked ? lines * 2 / 5 : lines / 600;
    while (std::gcd(step, lines) != 1) ++step;
    const unsigned timed = walked ? 512 : 256;
    const std::uint64_t blocks = (lines + 255) / 256;
    run(GetParam().gpu, {{"list", {{"bytes", lines * 128}}}},
        {launch("chain", blocks, 256, {argument("list"), number(lines), number(step)}),
         launch("touch", blocks, 256, {argument("list"), number(lines)}),
         launch("chase", 1, 1, {argument("list"), argument("cycles"), number(walked ? lines / 16 + 1 : 1), number(timed / 16)})},
        true);
    return static_cast<double>(clocks_) / timed;
  }
  void level(double kib, double published, const char* source) {
    const double model = chase(kib);
    if (HasFatalFailure()) return;
    char what[48];
    std::snprintf(what, sizeof what, "latency in %.0f KiB", kib);
    compare(GetParam().gpu, what, model, published, 0.03, source);
  }
};

TEST_P(latency, of_l1_and_l2) {
  const levels& p = GetParam();
  level(p.l1_kib / 2, p.l1, p.source[0]);
  level(p.l1_kib * 0.9, p.l1, p.source[0]);
  level(p.l1_kib * 1.3, p.l2, p.source[1]);
  level(1024, p.l2, p.source[1]);
}

// Footprints around the L2's size and past it.
TEST_P(latency, of_large_footprints) {
  const levels& p = GetParam();
  level(p.l2_kib * 0.95, p.l2, p.source[1]);
  level(p.l2_kib * 2, p.memory, p.source[2]);
}

INSTANTIATE_TEST_SUITE_P(all, latency, ::testing::ValuesIn(pinned),
                         [](const auto& info) { return std::string(info.param.gpu); });

// GB/s read and written together. Jia et al. 2018, table 3.1; for the GTX 980 and 1080 the share of the peak that the same chips
// reach there (M60: 127 of 160, P4: 162 of 192).
struct stream {
  const char* gpu;
  double gigabytes_per_second;
  unsigned mebibytes;  // the larger of two copies, whose difference counts
};
void PrintTo(const stream& s, std::ostream* out) { *out << s.gpu; }
constexpr stream streams[] = {{"gtx980", 178, 8}, {"p100", 510, 16}, {"gtx1080", 270, 8}, {"v100", 750, 24}};

class bandwidth : public memory_figures, public ::testing::WithParamInterface<stream> {
 protected:
  /// Seconds that a copy takes, dirty lines written back.
  double seconds(std::uint64_t bytes) {
    run(GetParam().gpu, {{"from", {{"bytes", bytes}}}, {"to", {{"bytes", bytes}}}},
        {launch("copy", bytes / (256 * 64), 256, {argument("from"), argument("to")})}, true);
    return HasFatalFailure() ? 1 : metrics_["cycles"].get<double>() /
                                       (metrics_["gpu"]["config"]["gpu.core_clock_mhz"].get<double>() * 1e6);
  }
};

TEST_P(bandwidth, of_a_large_streaming_copy) {
  const std::uint64_t large = std::uint64_t{GetParam().mebibytes} << 20;
  const double more = seconds(large);
  const double less = seconds(large / 2);
  if (HasFatalFailure()) return;
  compare(GetParam().gpu, "GB/s of a copy", 2.0 * static_cast<double>(large / 2) / (more - less) * 1e-9,
          GetParam().gigabytes_per_second, 0.05, jia);
}

INSTANTIATE_TEST_SUITE_P(all, bandwidth, ::testing::ValuesIn(streams),
                         [](const auto& info) { return std::string(info.param.gpu); });

// Cycles beyond an access without conflict, by the lanes that share a bank or word.
TEST_F(memory_figures, of_bank_conflicts) {
  const double published[] = {2, 6, 14, 30, 62};  // Mei and Chu 2017, table 8, GTX 980: 28 cycles without conflict
  double alone = 0;
  for (unsigned i = 0; i < 6; ++i) {
    run("gtx980", json::object(), {launch("shared_conflict", 1, 32, {argument("cycles"), number(1u << i)})});
    if (HasFatalFailure()) return;
    const double model = clocks_ / 64.0;
    if (i == 0)
      alone = model;
    else
      compare("gtx980", std::to_string(1u << i) + " lanes in a bank: added cycles", model - alone, published[i - 1], 0.1, "Mei");
  }
}

struct contention {
  const char* gpu;
  const char* kernel;
  double added[2];  // cycles with 8 and with 32 lanes on a word, less those of one
  double slack;     // cycles
};

// Jia et al. 2018, table 4.2. The shape is what is compared: an atomic's latency itself was not published.
TEST_F(memory_figures, of_contended_atomics) {
  const contention all[] = {{"p100", "atomic_shared", {15, 63}, 4},   {"gtx1080", "atomic_shared", {14, 62}, 4},
                            {"gtx980", "atomic_shared", {14, 62}, 4}, {"v100", "atomic_shared", {12, 60}, 4},
                            {"p100", "atomic_global", {22, 24}, 16},  {"gtx1080", "atomic_global", {21, 21}, 16},
                            {"gtx980", "atomic_global", {17, 22}, 16}, {"v100", "atomic_global", {5, 40}, 16}};
  for (const contention& c : all) {
    double alone = 0;
    for (const unsigned lanes : {1u, 8u, 32u}) {
      json arguments = {argument("cycles")};
      if (std::string(c.kernel) == "atomic_global") arguments.push_back(argument("cells"));
      arguments.push_back(number(lanes));
      run(c.gpu, {{"cells", {{"bytes", 128}}}}, {launch(c.kernel, 1, 32, arguments)});
      if (HasFatalFailure()) return;
      const double model = clocks_ / 32.0;
      if (lanes == 1) {
        alone = model;
        continue;
      }
      const double published = c.added[lanes == 32];
      std::printf("%-8s %s, %2u lanes on a word: added cycles %5.1f (published %g)\n", c.gpu, c.kernel, lanes, model - alone,
                  published);
      EXPECT_NEAR(model - alone, published, c.slack) << c.gpu << " " << c.kernel << " " << lanes;
    }
  }
}

}  // namespace

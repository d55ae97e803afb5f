// SPDX-License-Identifier: MIT
// What the microbenchmarks measure, against published figures. docs/workloads.md describes the kernels and their output.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

// Latency in cycles; throughput in results a cycle and SM, 0 where nothing is published. Sources: latencies V100 and Pascal
// (P4 for memory), Jia et al. 2018, tables 3.1 and 4.1; double precision on GP10x, Arafa et al. 2019; throughput, the CUDA C
// programming guide's table of arithmetic instructions (shared memory: 32 banks).
struct figure {
  const char* gpu;
  const char* name;
  double latency;
  double throughput;
  double tolerance;  // of the latency, as a share of it
};

constexpr figure figures[] = {
    {"gtx1080", "ffma", 6, 128, 0},      {"gtx1080", "dfma", 45, 4, 0},         {"gtx1080", "iadd", 6, 128, 0},
    {"gtx1080", "isetp", 12, 64, 0},     {"gtx1080", "mufu", 14, 32, 0},        {"gtx1080", "shared_load", 23, 32, 0},
    {"gtx1080", "l2_load", 216, 0, 0.05}, {"v100", "ffma", 4, 64, 0},           {"v100", "dfma", 8, 32, 0},
    {"v100", "iadd", 4, 64, 0},          {"v100", "isetp", 4, 64, 0},           {"v100", "mufu", 14, 16, 0},
    {"v100", "shared_load", 19, 32, 0},  {"v100", "l1_load", 28, 0, 0},         {"v100", "l2_load", 193, 0, 0.05},
    {"p100", "ffma", 6, 64, 0},          {"p100", "dfma", 8, 32, 0},            {"p100", "iadd", 6, 64, 0},
    {"p100", "isetp", 12, 32, 0},        {"p100", "mufu", 14, 16, 0},           {"p100", "shared_load", 24, 0, 0},
    {"gtx980", "ffma", 6, 128, 0},       {"gtx980", "iadd", 6, 128, 0},         {"gtx980", "isetp", 13, 64, 0},
    {"gtxtitan", "ffma", 11, 0, 0},       {"rtx2080ti", "ffma", 4, 64, 0},       {"rtx2080ti", "iadd", 4, 64, 0},
    {"a100", "ffma", 4, 64, 0},          {"a100", "iadd", 4, 64, 0},            {"rtx3080", "ffma", 4, 128, 0},
    {"rtx4090", "ffma", 4, 128, 0},      {"h100", "ffma", 4, 128, 0},           {"h100", "iadd", 4, 64, 0},
};

constexpr double operations = 384 - 128;  // the two lengths' difference
constexpr int threads[] = {32, 32, 32, 32, 1024, 1024};

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class microbench : public ::testing::TestWithParam<figure> {
 protected:
  // Runs the job with its result in a folder of this test; cycles of each launch, from the first clock to the last.
  std::vector<double> run() {
    const fs::path source = HEDDLE_MICROBENCH;
    const fs::path place = fs::path(HEDDLE_SCRATCH) / (std::string(GetParam().gpu) + "_" + GetParam().name);
    fs::create_directories(place);
    json job = json::parse(text_of(source / (std::string(GetParam().name) + ".json")));
    job["module"] = (source / job["module"].get<std::string>()).string();
    const fs::path result = place / "cycles.bin";
    fs::remove(result);
    job["outputs"][0]["file"] = result.string();
    std::ofstream(place / "job.json") << job.dump(2);
    const fs::path log = place / "log.txt";
    const std::string command = std::string("'" HEDDLE_PROGRAM "' run '") + (place / "job.json").string() + "' --quiet --gpu " +
                                GetParam().gpu + " >'" + log.string() + "' 2>&1";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << text_of(log);
    return cycles(text_of(result));
  }

  static std::vector<double> cycles(const std::string& bytes) {
    std::vector<double> result;
    std::size_t at = 0;
    for (const int count : threads) {
      std::uint32_t first = UINT32_MAX;
      std::uint32_t last = 0;
      for (int thread = 0; thread < count; ++thread, at += 16) {
        std::uint32_t clocks[2] = {};
        if (at + 16 <= bytes.size()) bytes.copy(reinterpret_cast<char*>(clocks), sizeof clocks, at);
        first = std::min(first, clocks[0]);
        last = std::max(last, clocks[1]);
      }
      result.push_back(static_cast<double>(last) - first);
    }
    EXPECT_EQ(at, bytes.size());
    return result;
  }
};

TEST_P(microbench, agrees_with_published_figures) {
  const figure& f = GetParam();
  const std::vector<double> cycles = run();
  if (HasFailure()) return;
  const double latency = (cycles[1] - cycles[0]) / operations;
  const double throughput = threads[5] * operations / (cycles[5] - cycles[4]);
  std::printf("%-8s %-12s latency %7.2f (published %g), results a cycle and SM %7.2f", f.gpu, f.name, latency, f.latency, throughput);
  if (f.throughput > 0) std::printf(" (published %g)", f.throughput);
  std::printf("\n");
  EXPECT_NEAR(latency, f.latency, f.tolerance * f.latency + 0.01);
  if (f.throughput > 0) {
    EXPECT_NEAR(throughput, f.throughput, 0.02 * f.throughput);
  }
}

INSTANTIATE_TEST_SUITE_P(all, microbench, ::testing::ValuesIn(figures),
                         [](const auto& info) { return std::string(info.param.gpu) + "_" + info.param.name; });

}  // namespace

// SPDX-License-Identifier: MIT
// Metrics compared with recorded ones: optimisations of the model, another machine or another compiler must not change
// a bit. A change of the model's behaviour requires new files (HEDDLE_RENEW_GOLDEN=1) and a stated reason.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/bench_traces.h"
#include "tests/system/common/json_text.h"

namespace golden_metrics_test {

namespace fs = std::filesystem;

struct golden_run {
  std::string name;
  std::string arguments;  // of the program
};

std::vector<golden_run> runs_on(const std::string& gpu, const fs::path& folder) {
  std::vector<golden_run> runs;
  for (const char* w :
       {"bfs", "divergent", "hotspot", "histogram", "nbody", "pointer_chase", "reduction", "scan",
        "sgemm_register_tiled", "spin_lock", "stencil_f64", "texture_filter", "transpose", "vector_add"})
    runs.push_back({w, "run '" HEDDLE_WORKLOADS "/" + std::string(w) + "/job.json'"});
  if (gpu == "v100" || gpu == "h100") runs.push_back({"wmma_gemm", "run '" HEDDLE_WORKLOADS "/wmma_gemm/job.json'"});
  using bench::trace_kind;
  for (const trace_kind kind :
       {trace_kind::tiled_product, trace_kind::streaming, trace_kind::divergent, trace_kind::transpose}) {
    const fs::path place = folder / bench::name_of(kind);
    fs::create_directories(place);
    const std::string list = bench::write_trace(kind, place, 160);
    runs.push_back({"trace_" + std::string(bench::name_of(kind)), "replay --log-level error '" + list + "'"});
  }
  return runs;
}

// 64-bit FNV-1a: detects changes; it need not be cryptographic.
std::uint64_t digest(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const unsigned char c : text) h = (h ^ c) * 0x100000001b3;
  return h;
}

// Cycles and instructions, which show the kind of a change, and a digest of all measurements: without host data and
// without parameters, which may be added.
std::string summary(const golden_run& r, const std::string& gpu, const fs::path& folder) {
  const std::string metrics = folder / "metrics.json";
  const std::string line =
      "'" HEDDLE_PROGRAM "' " + r.arguments + " --gpu " + gpu + " --quiet --progress never --metrics '" + metrics + "'";
  EXPECT_EQ(std::system(line.c_str()), 0) << line;
  std::ifstream in(metrics);
  auto m = nlohmann::json::parse(in);
  m.erase("host");
  m["gpu"].erase("config");
  std::uint64_t executed = 0;
  for (const auto& k : m["kernels"]) executed += k["metrics"]["inst_executed"].get<std::uint64_t>();
  char hex[24];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(digest(m.dump())));
  return "cycles " + std::to_string(m["cycles"].get<std::uint64_t>()) + " instructions " + std::to_string(executed) +
         " digest " + hex;
}

void compare(const std::string& gpu) {
  const fs::path folder = fs::path(HEDDLE_SCRATCH "/golden_metrics") / gpu;
  fs::create_directories(folder);
  const std::string file = HEDDLE_SOURCE "/tests/system/golden_metrics/" + gpu + ".txt";
  const char* renew = std::getenv("HEDDLE_RENEW_GOLDEN");
  std::map<std::string, std::string> known;
  std::string written;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (const std::size_t blank = line.find(' '); blank != std::string::npos)
      known[line.substr(0, blank)] = line.substr(blank + 1);
  for (const golden_run& r : runs_on(gpu, folder)) {
    const std::string now = summary(r, gpu, folder);
    if (renew) written += r.name + " " + now + "\n";
    else EXPECT_EQ(known[r.name], now) << r.name << " on " << gpu << "; meant so? then: ./dev golden renew";
  }
  if (renew) std::ofstream(file) << written;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

TEST(long_golden_metrics, gtx480) { compare("gtx480"); }
TEST(long_golden_metrics, gtxtitan) { compare("gtxtitan"); }
TEST(long_golden_metrics, gtx1080) { compare("gtx1080"); }
TEST(long_golden_metrics, v100) { compare("v100"); }
TEST(long_golden_metrics, h100) { compare("h100"); }

}  // namespace golden_metrics_test

// SPDX-License-Identifier: MIT
// Metrics compared with recorded ones: optimisations of the model, another machine or another compiler must not change
// a bit. A change of the model's behaviour requires new files (HEDDLE_RENEW_GOLDEN=1) and a stated reason.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/bench/bench_traces.h"
#include "tests/system/common/golden_metrics.h"

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

std::string summary(const golden_run& r, const std::string& gpu, const fs::path& folder) {
  const std::string metrics = folder / "metrics.json";
  const std::string line =
      "'" HEDDLE_PROGRAM "' " + r.arguments + " --gpu " + gpu + " --quiet --progress never --metrics '" + metrics + "'";
  EXPECT_EQ(std::system(line.c_str()), 0) << line;
  return heddle::test::metrics_summary(metrics);
}

void compare(const std::string& gpu) {
  const fs::path folder = fs::path(HEDDLE_SCRATCH "/golden_metrics") / gpu;
  fs::create_directories(folder);
  {
    heddle::test::golden_file recorded(HEDDLE_SOURCE "/tests/system/golden_metrics/" + gpu + ".txt");
    for (const golden_run& r : runs_on(gpu, folder)) recorded.compare(r.name, summary(r, gpu, folder));
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

TEST(long_golden_metrics, gtx480) { compare("gtx480"); }
TEST(long_golden_metrics, gtxtitan) { compare("gtxtitan"); }
TEST(long_golden_metrics, gtx1080) { compare("gtx1080"); }
TEST(long_golden_metrics, v100) { compare("v100"); }
TEST(long_golden_metrics, h100) { compare("h100"); }

}  // namespace golden_metrics_test

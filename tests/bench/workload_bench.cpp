// SPDX-License-Identifier: MIT
// Whole-process speed of the model: workloads on GPUs, the best of several runs each, from the metrics' `host` part; then
// what idle cycles and idle SMs cost. Ratios within one run are what counts: machines are noisy.
// usage: workload_bench [RUNS]
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace {

struct speed {
  double instructions = 0;   // warp instructions
  double cycles = 0;
  double seconds = 0;        // CPU
  double megabytes = 0;
  double transactions = 0;   // from SMs to the L2 and from there to memory
};

/// `what`: a job, or a kernel with its launch; the best of `runs`.
speed run_best(const std::string& what, int runs) {
  const std::string metrics = std::filesystem::temp_directory_path() / "heddle_workload_bench.json";
  speed best;
  for (int i = 0; i < runs; ++i) {
    const std::string command = "'" HEDDLE_PROGRAM "' run " + what + " --quiet --progress never --metrics '" + metrics + "'";
    if (std::system(command.c_str()) != 0) {
      std::fprintf(stderr, "workload_bench: failed: %s\n", command.c_str());
      std::exit(1);
    }
    std::ifstream in(metrics);
    const auto m = nlohmann::json::parse(in);
    speed s;
    for (const auto& k : m["kernels"]) {
      s.instructions += k["metrics"]["inst_executed"].get<double>();
      const auto& memory = k["memory"];
      s.transactions += memory["l2"]["requests"].get<double>() + memory["dram"]["reads"].get<double>() +
                        memory["dram"]["writes"].get<double>();
    }
    s.cycles = m["cycles"].get<double>();
    s.seconds = m["host"]["cpu_seconds"].get<double>();
    s.megabytes = m["host"]["peak_rss_bytes"].get<double>() * 1e-6;
    if (i == 0 || s.seconds < best.seconds) best = s;
  }
  std::filesystem::remove(metrics);
  return best;
}

speed run(const std::string& workload, const std::string& options, int runs) {
  return run_best("'" HEDDLE_WORKLOADS "/" + workload + "/job.json' " + options, runs);
}

void line(const std::string& workload, const std::string& what, const speed& s) {
  std::printf("%-22s %-28s %10.0f %10.0f %8.3f %9.3f %9.0f %7.0f\n", workload.c_str(), what.c_str(), s.instructions, s.cycles,
              s.seconds, s.instructions / s.seconds * 1e-6, s.cycles / s.seconds * 1e-3, s.megabytes);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 3;
  if (runs < 1) {
    std::fprintf(stderr, "workload_bench: expected the number of runs, 1 or more, not '%s'\n", argv[1]);
    return 2;
  }
  std::printf("%-22s %-28s %10s %10s %8s %9s %9s %7s\n", "workload", "options", "warp inst", "cycles", "CPU s", "Minst/s",
              "kcycle/s", "MB");
  for (const char* gpu : {"gtx1080", "v100"})
    for (const char* workload : {"sgemm", "sgemm_register_tiled", "vector_add", "divergent", "histogram", "stencil_f64"})
      line(workload, std::string("--gpu ") + gpu, run(workload, std::string("--gpu ") + gpu, runs));
  // One warp that waits for memory nearly all the time: ten times the latency, the same transactions.
  const std::string fixed = "--set memory.model=fixed --set memory.latency_cycles=";
  line("pointer_chase", "memory latency 300", run("pointer_chase", fixed + "300", runs));
  line("pointer_chase", "memory latency 3000", run("pointer_chase", fixed + "3000", runs));
  // The same work on a chip with ten times the SMs.
  line("nbody", "20 SMs", run("nbody", "--set gpu.sm_count=20", runs));
  line("nbody", "200 SMs", run("nbody", "--set gpu.sm_count=200", runs));
  // A kernel that does nothing but move memory: all of its time, by transactions.
  for (const char* gpu : {"gtx1080", "v100"}) {
    const speed s = run_best(std::string("--kernel '" HEDDLE_MICROBENCH "/memory.ptx:copy' --grid 512 --block 256 "
                                         "--arg buf:8388608 --arg buf:8388608 --gpu ") + gpu, runs);
    line("streaming copy, 8 MiB", std::string("--gpu ") + gpu, s);
    std::printf("%-22s %.0f transactions (SM to L2, L2 to memory), %.0f ns of CPU each\n", "", s.transactions,
                s.seconds / s.transactions * 1e9);
  }
  return 0;
}

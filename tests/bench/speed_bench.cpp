// SPDX-License-Identifier: MIT
// The speed of the whole program.
//   speed_bench [RUNS]         one table: kernels x GPUs x {PTX, trace}, then what idle cycles and idle SMs cost; the
//   fastest of
//                              RUNS runs (default 3). Machines are noisy: ratios within one table are what counts.
//   speed_bench --check FILE   the host's instructions in short runs, counted by callgrind, against those in FILE: a
//   difference
//                              of more than 2 % is an error (exit code 1); 77 without valgrind or when FILE is of
//                              another build
//   speed_bench --renew FILE   writes FILE
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench_cases.h"
#include "instruction_counts.h"
#include "program_run.h"

namespace {

using namespace bench;
namespace fs = std::filesystem;

void print_head(bool parts) {
  std::printf(
      "Rates are per CPU second of the simulation, all metrics on, without the building of the machine.\n"
      "ns: host nanoseconds per warp instruction.\n");
  if (parts)
    std::printf(
        "Parts of them: the measured ns times each part's share of the host's instructions in %s.\n"
        "Instructions are counted by callgrind and belong to the source folder of their line: function = model/simt\n"
        "(traces: model/frontend/sass_trace); issue = sub-partitions, SM, CWD; memory = model/memory, load/store unit,\n"
        "its protocols; kernel = SystemC, tlm/port, tlm/kernel; observe = what only metrics and views read. The\n"
        "standard library counts for who calls it.\n",
        filling_part);
  else std::printf("No division of ns by part: that needs valgrind (Debian: apt-get install valgrind).\n");
  std::printf("\n%-10s %-8s %-6s %10s %9s %8s %8s %9s %6s %7s", "kernel", "gpu", "input", "warp inst", "cycles",
              "CPU s", "Minst/s", "kcycle/s", "MB", "ns");
  for (const char* name : part_names)
    if (parts) std::printf(" %8s", name);
  std::printf("\n");
}

void print_row(const bench_case& c, const speed& s, bool parts, const std::string& folder) {
  const double ns = s.seconds / s.instructions * 1e9;
  std::printf("%-10s %-8s %-6s %10.0f %9.0f %8.3f %8.3f %9.1f %6.0f %7.0f", c.name.c_str(), c.gpu.c_str(),
              c.input.c_str(), s.instructions, s.cycles, s.seconds, s.instructions / s.seconds * 1e-6,
              s.cycles / s.seconds * 1e-3, s.megabytes, ns);
  if (parts) {
    const callgrind_profile p = profile(c, folder);
    for (const double n : p.instructions) std::printf(" %8.0f", ns * n / p.total());
  }
  std::printf("\n");
  std::fflush(stdout);
}

// The same work with little and with much of something that does none.
void print_idle(const char* workload, const char* what, const std::string& option, const char* few, const char* many,
                int runs, const std::string& folder) {
  double seconds[2] = {};
  for (const bool more : {false, true}) {
    const char* value = more ? many : few;
    const bench_case c{workload, "gtx1080", "ptx",
                       "run '" HEDDLE_WORKLOADS "/" + std::string(workload) + "/job.json' --set " + option + value, ""};
    const speed s = measure(c, runs, folder);
    seconds[more] = s.seconds;
    std::printf("%-14s %-15s %5s %10.0f warp inst %10.0f cycles %8.3f CPU s\n", workload, what, value, s.instructions,
                s.cycles, s.seconds);
  }
  std::printf("%-14s %-15s ratio %.2f\n", workload, what, seconds[1] / seconds[0]);
}

void print_table(int runs, const std::string& folder) {
  const bool parts = can_profile();
  print_head(parts);
  for (const bench_case& c : filling_cases(folder)) print_row(c, measure(c, runs, folder), parts, folder);
  std::printf("\nWhat idle cycles cost (ten times the memory latency), and what idle SMs cost (ten times as many):\n");
  print_idle("pointer_chase", "memory latency", "memory.model=fixed --set memory.latency_cycles=", "300", "3000", runs,
             folder);
  print_idle("nbody", "SMs", "gpu.sm_count=", "20", "200", runs, folder);
}

int run(const std::vector<std::string>& arguments, const std::string& folder) {
  const std::string what = arguments.empty() ? "" : arguments[0];
  if (arguments.size() == 2 && what == "--check") return check_counts(arguments[1], folder);
  if (arguments.size() == 2 && what == "--renew") return renew_counts(arguments[1], folder);
  const int runs = arguments.empty() ? 3 : std::atoi(what.c_str());
  if (arguments.size() > 1 || runs < 1) {
    std::fprintf(stderr, "usage: speed_bench [RUNS | --check FILE | --renew FILE]\n");
    return 2;
  }
  print_table(runs, folder);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path folder = fs::temp_directory_path() / ("heddle_speed_bench_" + std::to_string(::getpid()));
  int code = 1;
  try {
    fs::create_directories(folder);
    code = run({argv + 1, argv + argc}, folder);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "speed_bench: %s\n", e.what());
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return code;
}

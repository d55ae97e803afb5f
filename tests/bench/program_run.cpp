// SPDX-License-Identifier: MIT
#include "program_run.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace bench {

namespace {

// The function that the program itself measures the time of (testbench/run/job_runner.cpp).
constexpr const char* timed = "heddle::testbench::machine::run_for(sc_core::sc_time const&)";

// HEDDLE_BENCH_OPTIONS: further options of every run, such as --set energy.account=false, to see what one costs.
std::string program_line(const bench_case& c, const std::string& arguments, const std::string& metrics) {
  const char* further = std::getenv("HEDDLE_BENCH_OPTIONS");
  return "'" HEDDLE_PROGRAM "' " + arguments + " --gpu " + c.gpu + " --quiet --progress never --metrics '" + metrics +
         "' " + (further != nullptr ? further : "");
}

speed speed_of(const std::string& metrics) {
  std::ifstream in(metrics);
  if (!in) throw std::runtime_error("no metrics were written to '" + metrics + "'");
  const auto m = nlohmann::json::parse(in);
  speed s;
  for (const auto& k : m["kernels"]) s.instructions += k["metrics"]["inst_executed"].get<double>();
  s.cycles = m["cycles"].get<double>();
  s.seconds = m["host"]["cpu_seconds"].get<double>();
  s.megabytes = m["host"]["peak_rss_bytes"].get<double>() * 1e-6;
  return s;
}

}  // namespace

speed measure(const bench_case& c, int runs, const std::string& folder) {
  const std::string metrics = folder + "/metrics.json";
  speed best;
  for (int i = 0; i < runs; ++i) {
    const std::string line = program_line(c, c.arguments, metrics);
    if (std::system(line.c_str()) != 0) throw std::runtime_error("failed: " + line);
    const speed s = speed_of(metrics);
    if (i == 0 || s.seconds < best.seconds) best = s;
  }
  return best;
}

bool can_profile() { return std::system("valgrind --version >/dev/null 2>&1") == 0; }

callgrind_profile profile(const bench_case& c, const std::string& folder) {
  const std::string out = folder + "/callgrind.out";
  const std::string log = folder + "/valgrind.log";
  std::remove(out.c_str());
  // The loader's work of finding functions is done before, so that it does not count for who calls one first.
  std::string line =
      "LD_BIND_NOW=1 valgrind --tool=callgrind --compress-strings=no --compress-pos=no '--toggle-collect=";
  line += timed + ("' '--callgrind-out-file=" + out + "' ") + program_line(c, c.part, folder + "/metrics.json");
  const int code = std::system((line + " >'" + log + "' 2>&1").c_str());
  // A run that reaches a limit of cycles ends with code 1.
  const bool limited = c.part.find("--max-cycles") != std::string::npos;
  if (code != 0 && !(limited && code == 1 << 8)) throw std::runtime_error("failed: " + line);
  return read_callgrind(out);
}

}  // namespace bench

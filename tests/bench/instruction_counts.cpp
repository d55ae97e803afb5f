// SPDX-License-Identifier: MIT
#include "instruction_counts.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>

#include "bench_cases.h"
#include "program_run.h"

namespace bench {

namespace {

constexpr double tolerance = 0.02;
constexpr int skipped = 77;

std::string key(const bench_case& c) { return c.name + " " + c.gpu + " " + c.input; }

bool missing_valgrind() {
  if (can_profile()) return false;
  std::printf("skipped: valgrind is not there (Debian: apt-get install valgrind)\n");
  return true;
}

double count(const bench_case& c, const std::string& folder) {
  const double n = profile(c, folder).total();
  std::printf("%-26s %12.0f host instructions", key(c).c_str(), n);
  return n;
}

}  // namespace

int check_counts(const std::string& file, const std::string& folder) {
  if (missing_valgrind()) return skipped;
  std::ifstream in(file);
  std::string comment, built, name, gpu, input;
  std::getline(in, comment);
  std::getline(in, built);
  if (!in) throw std::runtime_error("'" + file + "' cannot be read");
  if (built != HEDDLE_BUILD) {
    std::printf("skipped: counts of %s, this is %s\n", built.c_str(), HEDDLE_BUILD);
    return skipped;
  }
  std::map<std::string, double> known;
  for (double n = 0; in >> name >> gpu >> input >> n;) known[name + " " + gpu + " " + input] = n;
  int wrong = 0;
  for (const bench_case& c : short_cases(folder)) {
    const auto before = known.find(key(c));
    if (before == known.end()) throw std::runtime_error("no count of '" + key(c) + "' in '" + file + "'");
    const double change = count(c, folder) / before->second - 1;
    std::printf(", %+.1f %%%s\n", 100 * change, std::abs(change) > tolerance ? "  <- more than 2 %" : "");
    std::fflush(stdout);
    wrong += std::abs(change) > tolerance;
  }
  if (wrong > 0) std::printf("meant so? then: ./dev counts renew\n");
  return wrong == 0 ? 0 : 1;
}

int renew_counts(const std::string& file, const std::string& folder) {
  if (missing_valgrind()) return skipped;
  std::string text =
      "# SPDX-License-Identifier: MIT - host instructions of short runs (speed_bench --renew), after the build\n";
  text += HEDDLE_BUILD "\n";
  for (const bench_case& c : short_cases(folder)) {
    text += key(c) + " " + std::to_string(static_cast<long long>(count(c, folder))) + "\n";
    std::printf("\n");
    std::fflush(stdout);
  }
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write '" + file + "'");
  return 0;
}

}  // namespace bench

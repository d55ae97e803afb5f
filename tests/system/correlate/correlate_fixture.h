// SPDX-License-Identifier: MIT
// `heddle correlate` as users run it, in a folder with small jobs.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/system/sweep/sweep_fixture.h"

namespace correlate_tests {

namespace fs = std::filesystem;
using sweep_tests::words;

class correlations : public sweep_tests::sweeps {
 protected:
  correlations() { command_ = "correlate"; }

  /// Runs it and returns the row of a CSV of results for this metric (and kernel).
  [[nodiscard]] std::map<std::string, std::string> row_of(const std::string& csv, const std::string& metric,
                                                          const std::string& kernel = "") const {
    for (auto& row : rows(csv))
      if (row.at("metric") == metric && (kernel.empty() || row.at("kernel") == kernel)) return row;
    ADD_FAILURE() << "no row of " << metric << " " << kernel << " in\n" << read(csv);
    return {{"hardware", "nan"}, {"heddle", "nan"}, {"error_pct", "nan"}};
  }
  double number(const std::string& csv, const std::string& metric, const char* column,
                const std::string& kernel = "") const {
    return std::stod(row_of(csv, metric, kernel).at(column));
  }
  std::string good(const words& arguments) {
    EXPECT_EQ(run(arguments), 0) << read("stderr");
    return read("stdout");
  }
  void refused(const words& arguments, const std::string& part) {
    EXPECT_EQ(run(arguments), 2) << read("stderr");
    const std::string err = read("stderr");
    EXPECT_EQ(err.rfind("heddle: error: ", 0), 0u) << err;
    EXPECT_NE(err.find(part), std::string::npos) << "wanted '" << part << "' in\n" << err;
    const bool hint = err.find("\n(see heddle correlate --help)") != std::string::npos;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), hint ? 2 : 1) << err;
    for (const char* result : {"p.html", "p.md", "p.csv", "s.points"}) EXPECT_FALSE(fs::exists(place_ / result));
  }
  [[nodiscard]] bool printed(const std::string& text) const { return read("stdout").find(text) != std::string::npos; }
};

}  // namespace correlate_tests

// SPDX-License-Identifier: MIT
// Metrics in one line, and files of such lines that later runs are compared with.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <utility>

namespace heddle::test {

/// Cycles and instructions, which show the kind of a change, and a digest of all measurements: without host data,
/// without parameters, which may be added, and without energies, which follow from the other counts and from parameters
/// that are fitted anew when there are better measurements.
std::string metrics_summary(const std::string& file);

/// A file of tests/system/golden_metrics: a line for each run, its name, a separator and its summary. With
/// HEDDLE_RENEW_GOLDEN=1 it is written instead of compared.
class golden_file {
 public:
  explicit golden_file(std::string path, std::string separator = " ")
      : path_(std::move(path)),
        separator_(std::move(separator)),
        renew_(std::getenv("HEDDLE_RENEW_GOLDEN") != nullptr) {
    std::ifstream in(path_);
    for (std::string line; std::getline(in, line);)
      if (const std::size_t at = line.find(separator_); at != std::string::npos)
        known_[line.substr(0, at)] = line.substr(at + separator_.size());
  }
  ~golden_file() {
    if (renew_ && !::testing::Test::HasFailure()) std::ofstream(path_) << written_;
  }
  golden_file(const golden_file&) = delete;
  golden_file& operator=(const golden_file&) = delete;

  [[nodiscard]] bool renews() const { return renew_; }
  void compare(const std::string& name, const std::string& summary) {
    if (renew_) written_ += name + separator_ + summary + "\n";
    else EXPECT_EQ(known_[name], summary) << name << " (" << path_ << "); meant so? then: ./dev golden renew";
  }

 private:
  std::string path_, separator_, written_;
  bool renew_;
  std::map<std::string, std::string> known_;
};

}  // namespace heddle::test

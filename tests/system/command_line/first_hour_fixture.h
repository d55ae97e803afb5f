// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/common/sanitizer_remark.h"
#include "tests/system/common/text_file.h"

namespace first_hour_fixture {

namespace fs = std::filesystem;
using heddle::test::content;

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class first_hour : public ::testing::Test {
 protected:
  first_hour() {
    place_ = fs::path(HEDDLE_SCRATCH "/first_hour") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
  }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((place_ / name).parent_path());
    std::ofstream(place_ / name, std::ios::binary) << text;
  }

  /// Runs a shell command in the test's folder, with the program as `heddle`. Returns the exit code.
  int shell(const std::string& line) {
    const std::string path = fs::path(HEDDLE_PROGRAM).parent_path().string();
    const std::string command = "cd '" + place_.string() + "' && export PATH='" + path + "':\"$PATH\" && { " + line +
                                "\n} > '" + place_.string() + ".out' 2> '" + place_.string() + ".err'";
    const int status = std::system(command.c_str());
    out_ = content(place_.string() + ".out");
    err_ = without_sanitizer_remark(content(place_.string() + ".err"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Expects exit code 2 and a one-line error that contains `part`.
  void refused(const std::string& arguments, const std::string& part) {
    EXPECT_EQ(2, shell("heddle " + arguments)) << arguments;
    EXPECT_EQ(0u, err_.rfind("heddle: error: ", 0)) << err_;
    const std::string first = err_.substr(0, err_.find('\n'));
    EXPECT_NE(std::string::npos, first.find(part)) << "wanted '" << part << "' in\n" << err_;
  }

  std::vector<std::string> commands() {
    EXPECT_EQ(0, shell("heddle complete -- ''"));
    std::vector<std::string> names;
    for (const std::string& line : lines_of(out_))
      if (line[0] != '-') names.push_back(line.substr(0, line.find('\t')));
    return names;
  }

  fs::path place_;
  std::string out_;
  std::string err_;
};

}  // namespace first_hour_fixture

// SPDX-License-Identifier: MIT
// README's sample output equals the output of a run.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>

#include "tests/system/common/text_file.h"

namespace readme_test {

namespace fs = std::filesystem;
using heddle::test::content;

TEST(readme, shows_what_the_first_run_prints) {
  fs::create_directories(HEDDLE_SCRATCH "/readme");
  const fs::path output = fs::path(HEDDLE_SCRATCH "/readme") / "output.txt";
  const std::string command = "cd '" HEDDLE_SOURCE "' && '" HEDDLE_PROGRAM
                              "' run testbench/workloads/sgemm/job.json > '" +
                              output.string() + "'";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
  const std::string printed = content(output);
  std::istringstream page(content(HEDDLE_SOURCE "/README.md"));
  unsigned shown = 0;
  bool in_sample = false;
  for (std::string line; std::getline(page, line);) {
    const bool indented = line.rfind("    ", 0) == 0;
    if (indented && line.rfind("    sgemm ", 0) == 0) in_sample = true;
    if (!indented) in_sample = false;
    if (!in_sample || line.find("...") == 4 || line.find_first_not_of(" .") == std::string::npos) continue;
    ++shown;
    EXPECT_NE(printed.find(line.substr(4) + "\n"), std::string::npos) << "README shows, but the run does not print:\n"
                                                                      << line;
  }
  EXPECT_GE(shown, 8u);
}

// All links and pictures of README exist, and its speed figures equal those in docs/develop/performance.md.
TEST(readme, links_and_speed_are_those_of_the_pages) {
  const std::string page = content(HEDDLE_SOURCE "/README.md");
  const std::regex link("\\]\\(([^)#:]+)[)#]");
  unsigned links = 0;
  for (std::sregex_iterator i(page.begin(), page.end(), link), end; i != end; ++i, ++links)
    EXPECT_TRUE(fs::exists(fs::path(HEDDLE_SOURCE) / (*i)[1].str())) << (*i)[1];
  EXPECT_GE(links, 30u);
  std::istringstream table(content(HEDDLE_SOURCE "/docs/develop/performance.md"));
  const std::regex row(
      "\\| [a-z]+ \\| (?:gtx1080|v100|h100) \\| (?:ptx|trace) \\| [0-9]+ \\| [0-9]+ \\| ([0-9.]+) \\|.*");
  double least = 1e9, most = 0;
  for (std::string line; std::getline(table, line);) {
    std::smatch m;
    if (!std::regex_match(line, m, row)) continue;
    least = std::min(least, std::stod(m[1]));
    most = std::max(most, std::stod(m[1]));
  }
  std::ostringstream expected;
  expected.precision(1);
  expected << std::fixed << least << " to ";
  expected.precision(0);
  expected << most << " million warp instructions a second";
  EXPECT_NE(page.find(expected.str()), std::string::npos) << "the table says " << expected.str();
}

}  // namespace readme_test

// SPDX-License-Identifier: MIT
// What README shows of a run is what the run prints.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(readme, shows_what_the_first_run_prints) {
  fs::create_directories(HEDDLE_SCRATCH);
  const fs::path output = fs::path(HEDDLE_SCRATCH) / "output.txt";
  const std::string command = "cd '" HEDDLE_SOURCE "' && '" HEDDLE_PROGRAM "' run testbench/workloads/sgemm/job.json > '" + output.string() + "'";
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
    EXPECT_NE(printed.find(line.substr(4) + "\n"), std::string::npos) << "README shows, but the run does not print:\n" << line;
  }
  EXPECT_GE(shown, 8u);
}

}  // namespace

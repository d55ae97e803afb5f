// SPDX-License-Identifier: MIT
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace waveform_fixture {

namespace fs = std::filesystem;

inline constexpr std::uint64_t cycle_ps = 1000;  // the core clock is set to 1000 MHz

inline std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline int run(const std::string& what) {
  const std::string command = "'" HEDDLE_PROGRAM "' run " + what + " --set gpu.core_clock_mhz=1000 --quiet";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

inline std::string quoted(const fs::path& p) { return " '" + p.string() + "'"; }

}  // namespace waveform_fixture

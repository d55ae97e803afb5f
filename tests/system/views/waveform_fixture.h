// SPDX-License-Identifier: MIT
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/system/common/text_file.h"

namespace waveform_fixture {

namespace fs = std::filesystem;
using heddle::test::content;

inline constexpr std::uint64_t cycle_ps = 1000;  // the core clock is set to 1000 MHz

inline int run(const std::string& what) {
  const std::string command = "'" HEDDLE_PROGRAM "' run " + what + " --set gpu.core_clock_mhz=1000 --quiet";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

inline std::string quoted(const fs::path& p) { return " '" + p.string() + "'"; }

}  // namespace waveform_fixture

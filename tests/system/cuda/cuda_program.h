// SPDX-License-Identifier: MIT
// Runs CUDA programs under `heddle exec`.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/system/common/program_run.h"
#include "tests/system/common/sanitizer_remark.h"
#include "tests/system/common/text_file.h"

namespace cuda_runs {

namespace fs = std::filesystem;
using heddle::test::content;
using heddle::test::outcome;

/// The folder in which the current test runs its program.
inline fs::path place_of_test() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(info->test_suite_name()) + "." + info->name();
  for (char& c : name)
    if (c == '/') c = '_';
  const fs::path place = fs::path(HEDDLE_SCRATCH "/cuda") / name;
  fs::create_directories(place);
  return place;
}

/// Runs a shell command line in that folder, with HEDDLE for the program; a code of 128 or more means a signal, as in
/// the shell.
inline outcome shell(const std::string& command) {
  const fs::path place = place_of_test();
  // A sanitizer's run time must be a program's first library; Heddle's library is not built with it.
  const std::string whole =
      "cd '" + place.string() + "' && HEDDLE='" HEDDLE_PROGRAM "' timeout 120 sh -c '" + command + "' >stdout 2>stderr";
  const int status = std::system(whole.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(place / "stdout"),
          without_sanitizer_remark(content(place / "stderr"))};
}

/// Runs the program of tests/system/cuda/programs/programs.cpp, or the one given as `program`.
inline outcome exec(const std::string& program, const std::string& options = "--quiet --gpu v100") {
  return shell("exec \"$HEDDLE\" exec " + options + " -- " + program);
}

/// The full path of nvcc; empty: not installed.
inline std::string nvcc() {
  static const std::string found = [] {
    for (const char* at : {"/usr/local/cuda/bin/nvcc", "/usr/bin/nvcc"})
      if (fs::exists(at)) return std::string(at);
    return std::string();
  }();
  return found;
}

}  // namespace cuda_runs

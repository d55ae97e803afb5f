// SPDX-License-Identifier: MIT
// Programs in a child process with files for their output.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::test {

struct outcome {
  int code = -1;
  std::string out, err;
  [[nodiscard]] std::string first_line() const { return err.substr(0, err.find('\n')); }
};

/// How a program is started.
struct program_start {
  std::filesystem::path folder;                          // where it runs
  std::filesystem::path out = "stdout", err = "stderr";  // relative names are in that folder
  unsigned most_seconds = 60;                            // then SIGALRM ends it; 0: never
  rlim_t largest_file = 0;                               // 0: any
  bool own_group = false;                                // signals to this process's group do not reach it
};

/// Starts `command`, whose first word is a path, or a name that is looked for as the shell does.
pid_t start_program(std::vector<std::string> command, const program_start& how);

/// Waits for its end and returns its exit code; 128 + N for signal N.
int exit_code_of(pid_t child);

/// Starts it, waits, and reads what it has written, without a sanitizer's remarks.
outcome run_program(std::vector<std::string> command, const program_start& how);

}  // namespace heddle::test

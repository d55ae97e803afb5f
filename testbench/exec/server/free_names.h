// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "testbench/options/options.h"

namespace heddle::testbench {

/// Names for the result files when several programs share the same options: %p is the process, %n the program's name,
/// %% a percent sign. If a file exists already, all files of this program get the next free number: r.html, r.2.html,
/// r.3.html. The names are reserved by creating empty files.
class free_names {
 public:
  free_names(run_options& o, pid_t process, const std::string& program);
  /// Removes the files that are still empty.
  ~free_names();
  free_names(const free_names&) = delete;
  free_names& operator=(const free_names&) = delete;

  void keep() { held_.clear(); }

 private:
  bool hold(const std::vector<std::string>& names);
  void drop();
  std::vector<std::string> held_;
};

}  // namespace heddle::testbench

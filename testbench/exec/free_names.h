// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "testbench/options/options.h"

namespace heddle::testbench {

/// Names for the result files of one of several programs that have the same options: %p is the process, %n the
/// program's name, %% a percent sign; and where a file is there already, all files of this one get the next number:
/// r.html, r.2.html, r.3.html. Which it takes, it holds by an empty file.
class free_names {
 public:
  free_names(run_options& o, pid_t process, const std::string& program);
  /// Takes the empty files away that nothing has come into.
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

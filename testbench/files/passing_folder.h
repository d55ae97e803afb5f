// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// A folder for files that are not kept: made below the system's folder for temporary files, removed with its content
/// by the destructor, but not in a process that was forked meanwhile.
class passing_folder {
 public:
  /// `name`: the beginning of the folder's name. Throws input_error.
  explicit passing_folder(const std::string& name);
  ~passing_folder();
  passing_folder(const passing_folder&) = delete;
  passing_folder& operator=(const passing_folder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int process_;
};

}  // namespace heddle::testbench

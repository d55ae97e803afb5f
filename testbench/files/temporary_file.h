// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// 80 bits that nobody can foresee, as letters and digits: for the name of a temporary file.
std::string random_word();

/// The name of a file that must not outlive the program: it is unlinked by the destructor, and when SIGINT, SIGTERM or
/// SIGHUP ends the program. At most 16 exist at once; more are unlinked by their destructors alone.
class temporary_file {
 public:
  temporary_file() = default;
  explicit temporary_file(std::string name);
  temporary_file(temporary_file&& other) noexcept;
  temporary_file& operator=(temporary_file&& other) noexcept;
  ~temporary_file() { remove(); }

  /// Empty: no file.
  const std::string& name() const { return name_; }
  /// The file stays, under whatever name it was given.
  void keep();
  void remove();
  /// From here on these signals, where nobody else has taken them, remove what there is. The first file does it as
  /// well.
  static void watch_signals();

 private:
  std::string name_;
  int slot_ = -1;
};

}  // namespace heddle::testbench

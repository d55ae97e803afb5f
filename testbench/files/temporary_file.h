// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// 80 random, unpredictable bits as letters and digits, for the name of a temporary file.
std::string random_word();

/// The name of a file that must not outlive the program. The destructor unlinks the file, and so does the handler when
/// SIGINT, SIGTERM or SIGHUP ends the program. The handler covers at most 16 files at once; the destructors alone
/// unlink further ones.
class temporary_file {
 public:
  temporary_file() = default;
  explicit temporary_file(std::string name);
  temporary_file(temporary_file&& other) noexcept;
  temporary_file& operator=(temporary_file&& other) noexcept;
  ~temporary_file() { remove(); }

  /// Empty: no file.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Stops the tracking: the file stays, under whatever name it has now.
  void keep();
  void remove();
  /// Installs the handler for those of these signals that have the default action. The first file also installs it.
  static void watch_signals();

 private:
  std::string name_;
  int slot_ = -1;
};

}  // namespace heddle::testbench

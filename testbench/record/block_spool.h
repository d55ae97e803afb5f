// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace heddle::testbench {

/// Compressed texts in an unnamed file, until they are copied to the files of a trace.
class block_spool {
 public:
  struct part {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
  };
  /// In the folder `folder`. Throws input_error if it cannot be made.
  explicit block_spool(const std::string& folder);
  ~block_spool();
  block_spool(const block_spool&) = delete;
  block_spool& operator=(const block_spool&) = delete;

  /// The text as a frame of zstd, which is complete in itself.
  static std::string packed(const std::string& text);
  /// Appends data. Throws input_error.
  part append(const std::string& data);
  [[nodiscard]] std::string read(const part& p) const;

 private:
  [[noreturn]] void fail(const char* what) const;

  const std::string folder_;
  int fd_ = -1;
  std::uint64_t end_ = 0;
};

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::sass_trace {

/// A regular file that is read at any place.
class random_access_file {
 public:
  /// Throws input_error if the file cannot be read or is not a regular file.
  explicit random_access_file(const std::string& file);
  ~random_access_file();
  random_access_file(const random_access_file&) = delete;
  random_access_file& operator=(const random_access_file&) = delete;

  /// The file's size when it was opened.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Reads at most `most` bytes from `at` on; 0: the end of the file. Throws std::runtime_error.
  std::size_t read_some(char* to, std::size_t most, std::uint64_t at) const;
  /// Reads all of `bytes`. Throws std::runtime_error if the file has fewer.
  void read(char* to, std::size_t bytes, std::uint64_t at) const;

 private:
  int file_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace heddle::sass_trace

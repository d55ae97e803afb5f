// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testbench/temporary_file.h"

namespace heddle::testbench {

/// Throws input_error (`who` in front) when a file of this name could not be written: no such directory, no permission,
/// a directory of that name. Leaves no trace.
void check_writable(const std::string& path, const std::string& who);

/// Files that appear whole or not at all: each is written under a temporary name in its own directory, and all take
/// their names at the end. Devices and pipes are written directly, at commit(). What was not committed is removed by
/// the destructor, or when a signal ends the program.
class result_files {
 public:
  result_files() = default;
  result_files(const result_files&) = delete;
  result_files& operator=(const result_files&) = delete;

  /// Writes and syncs `bytes` under a temporary name. Throws input_error: full disk, …
  void add(const std::string& path, const void* data, std::size_t bytes);
  void add(const std::string& path, const std::string& text) { add(path, text.data(), text.size()); }
  /// A temporary name for somebody else to write; what is there at commit() becomes `path`.
  std::string reserve(const std::string& path);
  /// Gives all files their names. Throws input_error.
  void commit();
  /// The names committed so far, in the order added.
  const std::vector<std::string>& written() const { return written_; }

 private:
  struct entry {
    std::string path;
    std::string target;        // `path` with symbolic links resolved
    temporary_file temporary;  // without a name: `data` goes to a device
    std::string data;
  };
  entry& make(const std::string& path);

  std::vector<entry> entries_;
  std::vector<std::string> written_;
};

}  // namespace heddle::testbench

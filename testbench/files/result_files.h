// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "testbench/files/file_access.h"
#include "testbench/files/output_place.h"
#include "testbench/files/temporary_file.h"

namespace heddle::testbench {

/// Files that appear whole or not at all: each is written under a temporary name in its own directory, and all take
/// their names at the end, with the permissions of the files that they replace. Standard output, devices and what the
/// shell opened are written at commit(). What was not committed is removed by the destructor, or when a signal ends the
/// program. A temporary file is made under a name that nobody can foresee and that nothing has yet, and until it is
/// whole only its owner may read it: a link that somebody else puts into the same directory is not followed.
class result_files {
 public:
  result_files() = default;
  result_files(const result_files&) = delete;
  result_files& operator=(const result_files&) = delete;

  /// Writes and syncs `bytes` under a temporary name. Throws input_error: full disk, …
  void add(const std::string& path, const void* data, std::size_t bytes, const file_access& access = {});
  /// The same of `bytes` that `read` delivers in pieces, from an offset on.
  void add(const std::string& path, std::uint64_t bytes,
           const std::function<void(std::uint64_t, void*, std::size_t)>& read, const file_access& access);
  void add(const std::string& path, const std::string& text) { add(path, text.data(), text.size()); }
  /// The name of an empty file for somebody else to open and write; what is in it at commit() becomes `path`. It stands
  /// for the open file where the system has such names (/proc/self/fd), so that nobody can put another one in its
  /// place.
  std::string reserve(const std::string& path);
  /// The same, by the temporary file's name in its directory: for what must know it.
  std::string reserve_name(const std::string& path);
  /// Called with the names of all temporary files before the last of them comes into being: for who removes what a kill
  /// leaves.
  std::function<void(const std::vector<std::string>&)> before_making;
  /// Gives all files their names. Throws input_error.
  void commit();
  /// The names committed so far, in the order added.
  const std::vector<std::string>& written() const { return written_; }

 private:
  struct entry {
    output_place place;
    temporary_file temporary;  // without a name: nothing, or a file that has none
    std::string name;          // of the temporary file in its directory
    descriptor file;           // open until commit()
    dev_t device = 0;          // which file was made
    ino_t inode = 0;
    mode_t mode = 0;   // that it gets
    std::string data;  // for what is written directly
  };
  entry& make(const std::string& path, const file_access& access);
  void make_temporary(entry& e);
  std::vector<std::string> temporary_names() const;
  static void make_nameless(entry& e);
  static void finish(entry& e);
  static void rename(entry& e);
  static void write_directly(entry& e);

  std::vector<entry> entries_;
  std::vector<std::string> written_;
};

}  // namespace heddle::testbench

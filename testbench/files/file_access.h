// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "testbench/files/descriptor.h"

namespace heddle {
class input_file;
}

namespace heddle::testbench {

/// Which files a job may name: all, or those below one folder. Symbolic links are resolved first. What is opened then
/// is reached from that folder step by step without following links, so that a link that is put there meanwhile is
/// refused and not followed.
class file_access {
 public:
  /// All files.
  file_access() = default;
  /// Those below `folder`; `who` is for messages: "--confine". Throws input_error if it is no folder.
  file_access(const std::string& folder, const std::string& who);

  bool is_confined() const { return root_ != nullptr; }
  /// It is an existing file that may be named.
  bool holds_file(const std::string& path) const;
  /// Size of a regular file that can be read, and a whole one. Throw input_error with `who` (whose file it is) in
  /// front.
  std::uint64_t size(const std::string& path, const std::string& who) const;
  std::string read(const std::string& path, const std::string& who) const;
  /// A folder for openat(2); not open: `problem` tells why.
  descriptor open_folder(const std::string& path, std::string& problem) const;
  /// Throws input_error if `path` is an existing file that lies elsewhere, for what is opened by its name later.
  void check(const std::string& path, const std::string& who) const;
  /// The same of a file that need not exist, nor its folder.
  void check_new(const std::string& path, const std::string& who) const;

 private:
  bool holds(const std::string& real) const;
  std::string outside() const;
  int open(const std::string& path, int flags, std::string& problem) const;
  std::unique_ptr<input_file> open_file(const std::string& path, const std::string& who) const;

  std::string folder_;  // as written
  std::string prefix_;  // its canonical name with a '/' at the end
  std::shared_ptr<const descriptor> root_;
};

/// How a GPU's configuration reads the files that it is based on: with `confine` only those below that folder or below
/// its own; empty: all. Shipped ones it reads by itself.
std::function<std::string(const std::string& file)> reader_of_bases(const std::string& confine, const std::string& gpu);

}  // namespace heddle::testbench

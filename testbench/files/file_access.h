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

/// The files that a job may name: all files, or those below one folder. Symbolic links are resolved first. The
/// resolved path is then opened component by component from that folder without following links, so a link created in
/// the meantime is refused.
class file_access {
 public:
  /// Bytes of a text that is parsed as a whole: a module, a job, metrics.
  static constexpr std::uint64_t largest_text = std::uint64_t{1} << 28;

  /// All files.
  file_access() = default;
  /// Only files below `folder`; `who` is for messages: "--confine". Throws input_error if `folder` is not a folder.
  file_access(const std::string& folder, const std::string& who);

  [[nodiscard]] bool is_confined() const { return root_ != nullptr; }
  /// True if `path` is an existing file that may be named.
  [[nodiscard]] bool holds_file(const std::string& path) const;
  /// The size and the content of a readable regular file. Both throw input_error whose message begins with `who` (the
  /// file's user); read() does so before it reads a file of more than `most` bytes.
  [[nodiscard]] std::uint64_t size(const std::string& path, const std::string& who) const;
  [[nodiscard]] std::string read(const std::string& path, const std::string& who,
                                 std::uint64_t most = ~std::uint64_t{0}) const;
  /// A folder for openat(2). If it cannot be opened, the descriptor is not open and `problem` holds the reason.
  descriptor open_folder(const std::string& path, std::string& problem) const;
  /// Throws input_error if `path` is an existing file outside the folder. For files that are opened by name later.
  void check(const std::string& path, const std::string& who) const;
  /// As check(), for a file that need not exist and whose folder need not exist.
  void check_new(const std::string& path, const std::string& who) const;

 private:
  [[nodiscard]] bool holds(const std::string& real) const;
  [[nodiscard]] std::string outside() const;
  int open(const std::string& path, int flags, std::string& problem) const;
  [[nodiscard]] std::unique_ptr<input_file> open_file(const std::string& path, const std::string& who) const;

  std::string folder_;  // as the user wrote it
  std::string prefix_;  // canonical path of the folder, with a '/' at the end
  std::shared_ptr<const descriptor> root_;
};

/// Returns the reader for the files on which a GPU's configuration is based. `confine` restricts it to files below
/// that folder or below the configuration's own folder; empty: no restriction. The configuration reads shipped files
/// itself.
std::function<std::string(const std::string& file)> reader_of_bases(const std::string& confine, const std::string& gpu);

}  // namespace heddle::testbench

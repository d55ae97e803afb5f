// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "testbench/files/output_place.h"

namespace heddle::testbench {

/// The role of each file in a run. Files are identified by device and inode, and files that do not exist yet by their
/// folder and name; standard output and what else the shell has opened by the open file. "o.bin", "./o.bin", a symbolic
/// link and a hard link to it are thus one file.
class file_roles {
 public:
  /// Adds a file that is read. A path that does not exist or is not a regular file is ignored here: its reader reports
  /// it. `who` is for messages: "module", "--gpu".
  void add_input(const std::string& path, const std::string& who);
  /// Adds a file that is written. Throws input_error ("WHO: 'PATH' ...") if another role reads or writes it. An input
  /// named by `beside` may be the same file, because one option names both.
  void add_output(const output_place& place, const std::string& who, const std::string& beside = "");
  /// The same for the place that find_output() returns.
  void add_output(const std::string& path, const std::string& who) { add_output(find_output(path, who), who); }

 private:
  // Device, inode, and the name in that folder (empty: an existing file).
  using identity = std::tuple<std::uint64_t, std::uint64_t, std::string>;
  static identity identity_of(const output_place& place);

  std::multimap<identity, std::string> inputs_;  // with the reader
  std::map<identity, std::string> outputs_;      // with the writer
};

}  // namespace heddle::testbench

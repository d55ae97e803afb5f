// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "testbench/files/output_place.h"

namespace heddle::testbench {

/// What each file of a run is: files are told apart as the system does it, by device and inode, and those that do not
/// exist yet by their folder's and their name. So "o.bin", "./o.bin", a symbolic link and a hard link to it are one
/// file.
class file_roles {
 public:
  /// A file that is read. One that does not exist, or is none, is somebody else's error. `who` is for messages:
  /// "module", "--gpu".
  void add_input(const std::string& path, const std::string& who);
  /// A file that is written. Throws input_error ("WHO: 'PATH' ...") if it is read or written by something else;
  /// `beside`: an input of that who may be it, because one option names both.
  void add_output(const output_place& place, const std::string& who, const std::string& beside = "");
  /// find_output() and the same.
  void add_output(const std::string& path, const std::string& who) { add_output(find_output(path, who), who); }

 private:
  using identity =
      std::tuple<std::uint64_t, std::uint64_t, std::string>;  // device, inode, and a name in that folder or nothing
  static identity identity_of(const output_place& place);

  std::multimap<identity, std::string> inputs_;  // and who reads it
  std::map<identity, std::string> outputs_;      // and who writes it
};

}  // namespace heddle::testbench

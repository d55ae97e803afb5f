// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "testbench/files/descriptor.h"

namespace heddle::testbench {

class file_access;

/// The destination of an output: a name in a folder, or an object that is written directly. The folder is held open,
/// so the file is written into the same folder that was checked.
struct output_place {
  enum class kind : std::uint8_t {
    file,
    device,         // /dev/null, /dev/zero, /dev/full, a terminal: opened by name
    own_descriptor  // opened by the shell: standard output, process substitution
  };
  kind what = kind::file;
  std::string path;       // as the user wrote it
  std::string directory;  // folder of the file; links in the file name itself are resolved as far as they exist
  std::string name;       // file name in that folder
  std::shared_ptr<const descriptor> folder;
  bool exists = false;
  struct stat status = {};  // of the existing file
  int number = -1;          // of the own descriptor
};

/// Finds the place of an output; `-` is the standard output. Throws input_error ("WHO: cannot write 'PATH': why";
/// without "WHO: " if `who` is empty) for a missing folder, missing permission, a pipe, a device that holds data, or a
/// place that `access` forbids. Creates nothing.
output_place find_output(const std::string& path, const std::string& who, const file_access& access);
output_place find_output(const std::string& path, const std::string& who);

/// True if this output is standard output; nothing else should then be written to standard output.
bool is_standard_output(const std::string& path);

}  // namespace heddle::testbench

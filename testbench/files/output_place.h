// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "testbench/files/descriptor.h"

namespace heddle::testbench {

class file_access;

/// Where an output goes: a name in a folder that is held open, so that it is the same folder when the file is written
/// as when it was looked at; or something that is written directly.
struct output_place {
  enum class kind : std::uint8_t {
    file,
    device,         // /dev/null, /dev/zero, /dev/full, a terminal: by its name
    own_descriptor  // what the shell opened: standard output, process substitution
  };
  kind what = kind::file;
  std::string path;       // as the user wrote it
  std::string directory;  // of the file, links resolved as far as there are any in its own name
  std::string name;       // in it
  std::shared_ptr<const descriptor> folder;
  bool exists = false;
  struct stat status = {};  // of the file that exists
  int number = -1;          // of the own descriptor
};

/// Finds the place of an output; `-` is the standard output. Throws input_error ("WHO: cannot write 'PATH': why", "WHO:
/// " unless empty): no such folder, no permission, a pipe, a device that holds data, a place that `access` keeps.
/// Leaves no trace.
output_place find_output(const std::string& path, const std::string& who, const file_access& access);
output_place find_output(const std::string& path, const std::string& who);

/// Whether this output is standard output, where nothing else should be written then.
bool is_standard_output(const std::string& path);

}  // namespace heddle::testbench

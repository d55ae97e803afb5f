// SPDX-License-Identifier: MIT
#include "testbench/files/passing_folder.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "heddle/config/error.h"

namespace heddle::testbench {

namespace fs = std::filesystem;

passing_folder::passing_folder(const std::string& name)
    : path_((fs::temp_directory_path() / (name + "-XXXXXX")).string()), process_(::getpid()) {
  if (::mkdtemp(path_.data()) == nullptr)
    throw input_error("cannot make a folder in '" + fs::temp_directory_path().string() + "': " + std::strerror(errno));
}

passing_folder::~passing_folder() {
  if (::getpid() != process_) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace heddle::testbench

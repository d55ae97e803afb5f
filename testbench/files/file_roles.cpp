// SPDX-License-Identifier: MIT
#include "testbench/files/file_roles.h"

#include <sys/stat.h>

#include "heddle/config/error.h"

namespace heddle::testbench {

void file_roles::add_input(const std::string& path, const std::string& who) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
    inputs_.emplace(identity(status.st_dev, status.st_ino, ""), who);
}

file_roles::identity file_roles::identity_of(const output_place& place) {
  if (place.what == output_place::kind::own_descriptor) {
    // The file that the shell has opened. Several descriptors may lead to one device, such as /dev/null.
    struct stat open {};
    ::fstat(place.number, &open);
    return {open.st_dev, open.st_ino, S_ISCHR(open.st_mode) ? "descriptor " + std::to_string(place.number) : ""};
  }
  if (place.exists) return {place.status.st_dev, place.status.st_ino, ""};
  struct stat folder {};
  ::fstat(place.folder->get(), &folder);
  return {folder.st_dev, folder.st_ino, place.name};
}

void file_roles::add_output(const output_place& place, const std::string& who, const std::string& beside) {
  if (place.what == output_place::kind::device) return;
  const identity file = identity_of(place);
  const auto [first, last] = inputs_.equal_range(file);
  for (auto input = first; input != last; ++input)
    if (beside.empty() || input->second != beside)
      throw input_error(who + ": '" + place.path + "' is read by this run (" + input->second +
                        "), expected another file to write");
  const auto [at, fresh] = outputs_.emplace(file, who);
  if (!fresh)
    throw input_error(who + ": '" + place.path + "' is written by something else already (" + at->second + ")");
}

}  // namespace heddle::testbench

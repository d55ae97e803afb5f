// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/file_version.h"

#include <sys/stat.h>

#include <utility>

namespace heddle::testbench {

file_version::file_version(std::string name) : name_(std::move(name)), before_(mark_of(name_)) {}

bool file_version::changed() const {
  const mark now = mark_of(name_);
  return now.device != before_.device || now.inode != before_.inode || now.bytes != before_.bytes ||
         now.seconds != before_.seconds || now.nanoseconds != before_.nanoseconds;
}

file_version::mark file_version::mark_of(const std::string& name) {
  struct stat status = {};
  if (::stat(name.c_str(), &status) != 0) return {};
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
          static_cast<std::uint64_t>(status.st_size), static_cast<std::int64_t>(status.st_mtim.tv_sec),
          static_cast<std::int64_t>(status.st_mtim.tv_nsec)};
}

}  // namespace heddle::testbench

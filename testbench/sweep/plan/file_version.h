// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace heddle::testbench {

/// A file as it was at one time, as the system tells without reading it: which file, how long, when written.
class file_version {
 public:
  explicit file_version(std::string name);

  const std::string& name() const { return name_; }
  /// Whether the name now stands for something else, or nothing.
  bool changed() const;

 private:
  struct mark {
    std::uint64_t device = 0, inode = 0, bytes = 0;
    std::int64_t seconds = 0, nanoseconds = 0;
  };
  static mark mark_of(const std::string& name);

  std::string name_;
  mark before_;
};

}  // namespace heddle::testbench

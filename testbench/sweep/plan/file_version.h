// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace heddle::testbench {

/// The identity of a file at one time, without reading it: device, inode, size and modification time.
class file_version {
 public:
  explicit file_version(std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// True if the name now refers to another file, to changed content, or to nothing.
  [[nodiscard]] bool changed() const;

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

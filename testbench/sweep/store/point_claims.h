// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// Who runs a point, among all that work on one store: a lock of the operating system for each, which ends with its
/// holders however they end. Where the file system has no locks every claim is granted: points may be run twice, to the
/// same result.
class point_claims {
 public:
  /// Held by this process and those that it forks while they live. `file` is made if need be.
  explicit point_claims(const std::string& file);
  ~point_claims();
  point_claims(const point_claims&) = delete;
  point_claims& operator=(const point_claims&) = delete;

  /// Whether the point of this id (hexadecimal) is now ours: false while somebody else has it.
  bool take(const std::string& id);
  void release(const std::string& id);

 private:
  int lock(const std::string& id, short kind);

  int fd_;
};

}  // namespace heddle::testbench

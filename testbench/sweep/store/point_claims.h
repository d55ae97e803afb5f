// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// Exclusive claims on points among all processes that use one store. Each claim is a file lock of the operating
/// system, which ends with its holders. On a file system without locks every claim is granted: points may then be run
/// twice, with the same result.
class point_claims {
 public:
  /// Claims are held by this process and its forked children during their lifetime. `file` is created if necessary.
  explicit point_claims(const std::string& file);
  ~point_claims();
  point_claims(const point_claims&) = delete;
  point_claims& operator=(const point_claims&) = delete;

  /// True if the point of this id (hexadecimal) is now claimed here; false while another process holds it.
  bool take(const std::string& id);
  void release(const std::string& id);

 private:
  int lock(const std::string& id, short kind);

  int fd_;
};

}  // namespace heddle::testbench

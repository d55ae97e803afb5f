// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/files/result_files.h"

namespace heddle::testbench {

/// Serialises gatherings: the database knows other sweeps only by its previous content. The lock's file lists the
/// temporary files being written, so that the next gathering can remove those that a killed one left.
class gathering_lock final : public temporary_file_observer {
 public:
  /// Waits for the lock.
  explicit gathering_lock(const std::string& folder);
  ~gathering_lock();
  gathering_lock(const gathering_lock&) = delete;
  gathering_lock& operator=(const gathering_lock&) = delete;

  /// Notes temporary files before they are written.
  void note(const std::vector<std::string>& files) override;

 private:
  void remove_left();

  int fd_;
};

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// One gathering at a time: the database knows of other sweeps only by what it held before. The lock's file names what
/// is being written, so that the next one can remove what a gathering that was killed has left.
class gathering_lock {
 public:
  /// Waits for its turn.
  explicit gathering_lock(const std::string& folder);
  ~gathering_lock();
  gathering_lock(const gathering_lock&) = delete;
  gathering_lock& operator=(const gathering_lock&) = delete;

  /// These temporary files are about to be written.
  void note(const std::vector<std::string>& files);

 private:
  void remove_left();

  int fd_;
};

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/memory/common/host_regions.h"

namespace heddle::testbench {

/// The memory of a CUDA program, which is another, running process; its addresses may be invalid.
class remote_memory : public distant_memory {
 public:
  explicit remote_memory(pid_t process = 0) : process_(process), thread_(process) {}

  /// False: the address is not mapped, or the program has ended.
  bool read(std::uint64_t address, void* data, std::size_t bytes) const;
  [[nodiscard]] bool write(std::uint64_t address, const void* data, std::size_t bytes) const;
  void read(const std::vector<run>& runs) const override;
  void write(const std::vector<run>& runs) const override;
  /// The process has ended, or executes another program: its memory is no longer accessed.
  void end() { process_ = thread_ = 0; }
  /// True once if read() or write() of runs has failed while the process ran.
  [[nodiscard]] bool take_failure() const { return has_failed_.exchange(false); }
  /// The reason why the system denies access to another process's mapped memory; empty: access is granted.
  [[nodiscard]] std::string refusal(std::uint64_t address) const;

 private:
  [[nodiscard]] pid_t thread() const;
  bool find_thread() const;
  bool move(bool write, const std::vector<run>& runs) const;

  std::atomic<pid_t> process_;         // 0: it has ended
  mutable std::atomic<pid_t> thread_;  // by which its memory is reached
  mutable std::atomic<bool> has_failed_{false};
};

/// The number of a process's threads that have not ended; 0 also for a zombie, which has not been waited for.
long threads_of(pid_t process);
inline bool is_running(pid_t process) { return threads_of(process) != 0; }

/// All of its threads wait for something, and none computes.
bool is_asleep(pid_t process);

/// A child of this process that has ended and has not been waited for.
bool is_zombie(pid_t child);
/// The name that the system shows for the process, which exec() sets anew; also of a zombie.
std::string shown_name(pid_t process);
/// Processes that the program of this one's child has started and left when it ended.
class left_processes {
 public:
  /// They become children of this process.
  left_processes();
  /// True for some seconds from the first call on, as long as there are any: one may be about to call CUDA.
  [[nodiscard]] bool may_call();

 private:
  std::chrono::steady_clock::time_point until_{};
};

/// The name of the process's executable, without folder.
std::string name_of_program(pid_t process);

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::testbench {

/// The memory of a CUDA program, which is another, running process; its addresses may be invalid.
class remote_memory {
 public:
  explicit remote_memory(pid_t process = 0) : process_(process), thread_(process) {}

  /// False: the address is not mapped, or the program has ended.
  bool read(std::uint64_t address, void* data, std::size_t bytes) const;
  [[nodiscard]] bool write(std::uint64_t address, const void* data, std::size_t bytes) const;
  /// Bytes that lie together in `data`, from `at` on, to be written so far behind the address.
  struct run {
    std::size_t at, bytes;
  };
  [[nodiscard]] bool write(std::uint64_t address, const std::uint8_t* data, const std::vector<run>& runs) const;
  /// The reason why the system denies access to another process's mapped memory; empty: access is granted.
  [[nodiscard]] std::string refusal(std::uint64_t address) const;

 private:
  bool find_thread() const;

  pid_t process_;
  mutable pid_t thread_;  // by which its memory is reached
};

/// The number of a process's threads that have not ended; 0 also for a zombie, which has not been waited for.
long threads_of(pid_t process);
inline bool is_running(pid_t process) { return threads_of(process) != 0; }

/// The name of the process's executable, without folder.
std::string name_of_program(pid_t process);

}  // namespace heddle::testbench

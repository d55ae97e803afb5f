// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "testbench/exec/wire.h"

namespace heddle::testbench {

class connection;

/// Memory that the simulator and a process of a CUDA program share.
class shared_memory {
 public:
  /// Maps the file behind a descriptor of the process. Null: it is not a file in memory that keeps this size.
  [[nodiscard]] static std::unique_ptr<shared_memory> open(pid_t process, int descriptor, std::uint64_t bytes);
  /// The file alone, which the caller closes. -1: as above.
  [[nodiscard]] static int open_file(pid_t process, int descriptor, std::uint64_t bytes);
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  [[nodiscard]] std::uint8_t* data() const { return data_; }

 private:
  shared_memory(std::uint8_t* data, std::uint64_t bytes) : data_(data), bytes_(bytes) {}

  std::uint8_t* const data_;
  const std::uint64_t bytes_;
};

/// Memory that the simulator and a thread of a CUDA program share. While the thread waits for the GPU it moves bytes
/// between this memory and its own on request.
class copy_window {
 public:
  /// Maps the file behind a descriptor of the process. Null: it is not a file in memory that keeps its size.
  [[nodiscard]] static std::shared_ptr<copy_window> open(pid_t process, int descriptor);

  /// The connection on which the thread waits for a reply; null: it does not wait.
  void waits_on(connection* link) { link_ = link; }
  /// True if the thread can be asked to move these bytes: it waits, and they are ordinary memory of its own. Bytes that
  /// it may not access would end the program.
  [[nodiscard]] bool reaches(std::uint64_t address, std::uint64_t bytes, bool writes) const;
  /// Moves bytes from the program's memory through the window, whose content `use` gets in turn: bytes `at` to `at` +
  /// `n` are at `data`. The caller works on the thread's processor meanwhile, so that the bytes stay in that one's
  /// caches. Returns the number of bytes moved: all, or those before the first that the thread did not move; the window
  /// is not used again then.
  using part_use = std::function<void(std::uint64_t at, std::uint8_t* data, std::uint64_t n)>;
  std::uint64_t fetch(std::uint64_t address, std::uint64_t bytes, const part_use& use);
  /// The same to the program's memory: `use` fills the window.
  std::uint64_t deliver(std::uint64_t address, std::uint64_t bytes, const part_use& use);

 private:
  copy_window(pid_t process, std::unique_ptr<shared_memory> memory)
      : process_(process), memory_(std::move(memory)), data_(memory_->data()) {}
  /// Returns the thread's processor + 1, 0: unknown; none: it did not move them.
  std::optional<std::uint32_t> move(std::uint64_t address, std::uint64_t bytes, bool to_window);

  pid_t process_;
  std::unique_ptr<shared_memory> memory_;
  std::uint8_t* data_;
  connection* link_ = nullptr;
  bool lost_ = false;
};

}  // namespace heddle::testbench

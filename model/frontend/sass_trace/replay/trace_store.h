// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace heddle::sass_trace {

/// Storage for the blocks of all traces of a job until they have run: in memory as long as there is room, beyond that
/// in an unnamed file in the folder for temporary files (TMPDIR, else /tmp). The file is created when it is first
/// needed.
class trace_store {
 public:
  static constexpr std::size_t usual_mib = 192;
  static constexpr std::size_t most_kept_bytes = std::size_t{32} << 20;

  /// `bytes`: memory for blocks that run. `kept`: memory for the blocks of kernels that fit completely and need not be
  /// read again.
  trace_store(std::size_t bytes, std::size_t kept);
  ~trace_store();
  trace_store(const trace_store&) = delete;
  trace_store& operator=(const trace_store&) = delete;

  /// Reserves memory for a block that runs; false: there is not enough.
  bool take(std::size_t bytes);
  void give_back(std::size_t bytes) { room_ += bytes; }
  /// Remaining memory for blocks that need not be read again.
  [[nodiscard]] std::size_t kept_room() const { return kept_room_; }
  /// Takes memory for such blocks; what is left of it is returned when the result is dropped.
  [[nodiscard]] static std::shared_ptr<const void> keep(const std::shared_ptr<trace_store>& store, std::size_t bytes);
  /// A larger block is always in the file, and no more than this of it is in memory at once while it is read.
  [[nodiscard]] std::size_t part_bytes() const { return part_bytes_; }

  /// Appends data to the file; returns their offset. Throws input_error if the file cannot be written.
  std::uint64_t append(const void* data, std::size_t bytes);
  /// Throws input_error if the file cannot be read.
  void read(std::uint64_t at, void* data, std::size_t bytes) const;
  /// Releases a range of the file that is no longer needed.
  void forget(std::uint64_t at, std::uint64_t bytes);

 private:
  std::atomic<std::size_t> room_;
  std::size_t kept_room_;
  const std::size_t part_bytes_;
  std::mutex growing_;
  int fd_ = -1;
  std::uint64_t end_ = 0;
};

}  // namespace heddle::sass_trace

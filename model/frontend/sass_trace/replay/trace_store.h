// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace heddle::sass_trace {

/// Where blocks of traces are kept until they have run: in memory as long as there is room, beyond that in a file
/// without a name in the folder for temporary files (TMPDIR, else /tmp), which is made when it is first needed. For all
/// traces of a job.
class trace_store {
 public:
  static constexpr std::size_t usual_mib = 192;
  static constexpr std::size_t most_kept_bytes = std::size_t{32} << 20;

  /// Room in memory for blocks; `kept`: how much of it may be for blocks that need not be read again, because
  /// everything of their kernel fits.
  trace_store(std::size_t bytes, std::size_t kept);
  ~trace_store();
  trace_store(const trace_store&) = delete;
  trace_store& operator=(const trace_store&) = delete;

  /// Takes room for a block that runs; false: there is not enough.
  bool take(std::size_t bytes);
  void give_back(std::size_t bytes) { room_ += bytes; }
  /// Room that is left for blocks that need not be read again.
  std::size_t kept_room() const { return kept_room_; }
  void keep(std::size_t bytes);
  /// A block that takes more than this is in the file in any case: no more of it is in memory at once while it is read.
  std::size_t part_bytes() const { return part_bytes_; }

  /// Puts data behind what is in the file; returns where. Throws input_error when the file cannot be written.
  std::uint64_t append(const void* data, std::size_t bytes);
  /// Throws input_error when the file cannot be read.
  void read(std::uint64_t at, void* data, std::size_t bytes) const;
  /// That part of the file is not needed any more.
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

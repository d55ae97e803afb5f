// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace heddle::sanitize {

/// Allocates zeroed memory of the host, and frees all of it at once. It asks for large pages: the first
/// access to each page costs the host about as much as to a large one. Up to 64 MiB of it are kept for the next time.
class zeroed_memory {
 public:
  zeroed_memory() = default;
  ~zeroed_memory();
  zeroed_memory(const zeroed_memory&) = delete;
  zeroed_memory& operator=(const zeroed_memory&) = delete;

  /// At most `chunk_bytes` bytes, aligned to 64. Throws std::bad_alloc.
  void* take(std::size_t bytes);
  /// As many elements, all bytes zero.
  template <class T>
  T* take_array(std::size_t count) {
    return static_cast<T*>(take(count * sizeof(T)));
  }
  void clear();
  static constexpr std::size_t chunk_bytes = std::size_t{2} << 20;

 private:
  struct chunk {
    void* begin;
    std::size_t used;  // bytes that may not be zero, unless it is the one that is being used
  };
  static constexpr std::size_t most_kept = 32;
  void take_chunk();
  void release(std::size_t keep);
  std::vector<chunk> chunks_;
  std::size_t taken_ = 0;           // of these
  std::size_t used_ = chunk_bytes;  // of the last one taken
};

}  // namespace heddle::sanitize

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>

namespace heddle {

/// Where the memory of malloc lies in launches that are checked (docs/use/sanitize.md) on a copy of the device memory:
/// above the GPU's own and all that programs of the host have, with unused bytes behind each block, and not given again
/// soon after it was freed. So accesses behind a block, and to freed ones, meet no other. The GPU's heap decides
/// whether there is memory, and when.
class spaced_heap {
 public:
  static constexpr std::uint64_t begin = std::uint64_t{1} << 48;
  static constexpr std::uint64_t bytes = std::uint64_t{1} << 46;
  static bool contains(std::uint64_t address) { return address - begin < bytes; }

  /// A launch begins, with no memory here.
  void start();
  /// The address in place of that which the GPU's heap gave, which is not 0.
  std::uint64_t place(std::uint64_t given, std::uint64_t bytes);
  /// Frees a block; the GPU's address of it; 0 if none begins there.
  std::uint64_t release(std::uint64_t address);

 private:
  struct block {
    std::uint64_t given, extent;
  };
  std::uint64_t next_ = begin;
  std::uint64_t started_ = begin;  // `next_` then
  std::unordered_map<std::uint64_t, block> taken_;
  std::map<std::uint64_t, std::deque<std::uint64_t>> freed_;  // by extent, the first one first
};

}  // namespace heddle

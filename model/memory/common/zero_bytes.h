// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace heddle {

struct release_pages {
  void operator()(std::uint8_t* bytes) const;
};

/// `size` bytes of value 0 on pages of their own, for what is large and often used in part. The host gives them memory,
/// a small page at a time, where they are first written; between other data they would share the huge pages of the heap
/// (testbench/program/heap.cpp) and be cleared with them.
std::unique_ptr<std::uint8_t[], release_pages> zero_bytes(std::size_t size);

}  // namespace heddle

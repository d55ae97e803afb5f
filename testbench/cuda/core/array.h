// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "testbench/cuda/core/types.h"

namespace heddle::cuda {

/// A CUDA array: device memory with rows and layers stored without gaps, and the format of its elements.
struct array_record {
  std::uint64_t address = 0;
  channel_format format{};
  extent_t extent{};  // as the program specified it: zero for a dimension that the array does not have
  unsigned flags = 0;
  [[nodiscard]] std::size_t element_bytes() const {
    return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
  }
  [[nodiscard]] std::size_t row_bytes() const { return extent.width * element_bytes(); }
  [[nodiscard]] std::size_t rows() const { return extent.height != 0 ? extent.height : 1; }
  [[nodiscard]] std::size_t layers() const { return extent.depth != 0 ? extent.depth : 1; }
  [[nodiscard]] std::size_t layer_bytes() const { return row_bytes() * rows(); }
};

namespace array_flag {
constexpr unsigned layered = 1, surface = 2, cubemap = 4, gather = 8, sparse = 0x40, deferred = 0x80, video = 0x100;
}

/// Null: the program has no such array.
const array_record* known_array(array_t a);
/// An array of images, each half as large as the one before.
using mipmap_t = struct mipmap_record*;
struct mipmap_record {
  std::vector<array_t> levels;
};
/// Null: the program has no such array.
const mipmap_record* known_mipmap(mipmap_t m);
/// cudaChannelFormatKind from here on: integers that are always read as numbers up to 1, unsigned ones of 8 bits with
/// one, two and four channels, then of 16 bits, then signed ones.
constexpr int first_normalized = 5, last_normalized = 16, first_signed_normalized = 11;
/// Bits of such a channel; 0: the kind is another one.
constexpr int normalized_bits(int kind) {
  return kind < first_normalized || kind > last_normalized ? 0 : (kind - first_normalized) / 3 % 2 == 0 ? 8 : 16;
}
/// True for one, two or four channels of equal size in a format that a texture unit supports.
bool is_valid(const channel_format& f);

}  // namespace heddle::cuda

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace heddle::isa {

/// Types of a tensor's elements, numbered as CUtensorMapDataType.
enum class tensor_type : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz };
/// Where the 16-byte chunks of a box lie in shared memory, numbered as CUtensorMapSwizzle.
enum class tensor_swizzle : std::uint8_t { none, b32, b64, b128 };

constexpr unsigned tensor_dimensions = 5;

/// A tensor in global memory and the boxes of it that one copy moves: what cuTensorMapEncodeTiled and -Im2col write.
/// CUDA leaves the 128 bytes of a CUtensorMap to the implementation; these are Heddle's. Dimension 0 is the innermost.
struct tensor_map {
  static constexpr std::uint32_t magic_number = 0x31'4d'54'48;  // "HTM1"

  std::uint32_t magic = magic_number;
  tensor_type type = tensor_type::u8;
  std::uint8_t rank = 1;
  tensor_swizzle swizzle = tensor_swizzle::none;
  std::uint8_t fills_with_nan = 0;                                   // outside the tensor; otherwise zeros
  std::uint64_t address = 0;                                         // of element 0
  std::array<std::uint64_t, tensor_dimensions - 1> strides{};        // bytes, of dimensions 1 and up
  std::array<std::uint32_t, tensor_dimensions> last{};               // the size of each dimension, less one
  std::array<std::uint8_t, tensor_dimensions> box{};                 // elements of a box, less one
  std::array<std::uint8_t, tensor_dimensions> steps{1, 1, 1, 1, 1};  // between two elements of a box
  std::uint8_t is_im2col = 0;
  std::uint8_t promotion = 0;           // CUtensorMapL2promotion; no effect
  std::array<std::int16_t, 3> lower{};  // im2col: corners of the pixels' box, of dimensions 1 and up
  std::array<std::int16_t, 3> upper{};
  std::uint16_t channels = 0;  // im2col: per pixel
  std::uint16_t pixels = 0;    // im2col: per column
  std::array<std::uint8_t, 32> unused{};

  [[nodiscard]] unsigned element_bytes() const;
  [[nodiscard]] std::uint64_t size(unsigned dimension) const { return std::uint64_t{last[dimension]} + 1; }
};
static_assert(sizeof(tensor_map) == 128, "a CUtensorMap");

/// What is wrong with the map, by the rules of cuTensorMapEncodeTiled and -Im2col; empty: nothing.
std::string problem_of(const tensor_map& m);

}  // namespace heddle::isa

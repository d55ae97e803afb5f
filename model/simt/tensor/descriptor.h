// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle::simt {

/// A matrix in shared memory as a warpgroup's product reads it: a 64-bit descriptor (PTX ISA, "Matrix descriptor
/// format"). The matrix consists of rows of 16 bytes, which lie along k, or if it is transposed across k.
class matrix_descriptor {
 public:
  explicit matrix_descriptor(std::uint64_t bits)
      : start_(field(bits, 0)),
        leading_(field(bits, 16)),
        stride_(field(bits, 32)),
        base_(static_cast<unsigned>(bits >> 49 & 7)),
        swizzle_(static_cast<unsigned>(bits >> 62)) {}

  /// Address in the block's shared memory of the 16 bytes from byte 16 * `chunk` along k on, of row `line` of a or
  /// column `line` of b.
  [[nodiscard]] std::uint64_t along_k(unsigned line, unsigned chunk) const;
  /// Of a transposed matrix: the 16 bytes from byte 16 * `chunk` across k on, at depth `k`.
  [[nodiscard]] std::uint64_t across_k(unsigned k, unsigned chunk) const;

 private:
  static std::uint64_t field(std::uint64_t bits, unsigned at) { return (bits >> at & 0x3fff) << 4; }
  /// Rows of 16 bytes that lie side by side: 1, or 8, 4, 2 with swizzles of 128, 64 and 32 bytes.
  [[nodiscard]] unsigned width() const { return swizzle_ == 0 ? 1 : 16u >> swizzle_; }
  [[nodiscard]] std::uint64_t swizzled(std::uint64_t address) const;

  std::uint64_t start_, leading_, stride_;  // bytes
  unsigned base_;                           // of the pattern of a swizzle, in units of 128 bytes
  unsigned swizzle_;                        // 0 none, 1 of 128 bytes, 2 of 64, 3 of 32
};

}  // namespace heddle::simt

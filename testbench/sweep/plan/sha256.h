// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::testbench {

/// SHA-256 (FIPS 180-4): ids of sweep points, digests of files and of checkpoints.
class sha256 {
 public:
  using digest = std::array<std::uint8_t, 32>;

  sha256& update(const void* data, std::size_t bytes);
  /// Adds a text preceded by its length, so that different sequences of texts have different hashes.
  sha256& field(std::string_view text);
  /// Call it once, at the end.
  digest finish();

 private:
  void block(const std::uint8_t* data);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t bytes_ = 0;
};

/// Lower-case hexadecimal of the first `bytes` bytes.
std::string hex(const sha256::digest& digest, std::size_t bytes = 32);

}  // namespace heddle::testbench

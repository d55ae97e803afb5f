// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace heddle::sass_trace {

/// The bytes of a file, decompressed where its name ends in .xz, .zst or .gz. A compressed file may have several parts
/// behind each other; each must be whole, with the checksums and lengths it is told to have.
class byte_source {
 public:
  /// Throws input_error when the file cannot be read or is no regular file.
  static std::unique_ptr<byte_source> open(const std::string& file);
  virtual ~byte_source() = default;
  /// At most `most` bytes; 0: the file has ended. Throws std::runtime_error with what is wrong with the data.
  virtual std::size_t read(char* to, std::size_t most) = 0;
};

}  // namespace heddle::sass_trace

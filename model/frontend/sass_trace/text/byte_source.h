// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace heddle::sass_trace {

/// The bytes of a file, decompressed if its name ends in .xz, .zst or .gz. A compressed file may consist of several
/// parts in sequence; each must be complete, with matching checksums and lengths.
class byte_source {
 public:
  /// Throws input_error if the file cannot be read or is not a regular file.
  [[nodiscard]] static std::unique_ptr<byte_source> open(const std::string& file);
  virtual ~byte_source() = default;
  /// Reads at most `most` bytes; 0: end of the file. Throws std::runtime_error describing an error in the data.
  virtual std::size_t read(char* to, std::size_t most) = 0;
};

}  // namespace heddle::sass_trace

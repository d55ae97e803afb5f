// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "heddle/frontend/sass_trace/text/byte_source.h"

namespace heddle::sass_trace {

/// The lines of a text file, decompressed if its name ends in .xz, .zst, .gz or .tracez. Memory does not depend on the
/// file's size.
class line_reader {
 public:
  /// Throws input_error if the file cannot be read or is not a regular file.
  explicit line_reader(const std::string& file);

  /// Reads the next line, without its line end; false at the end of the file. The text is valid until the next call.
  /// A byte order mark in front of the first line is skipped.
  /// Throws input_error if the compressed data are corrupt or a line is longer than any trace has.
  bool next(std::string_view& line);
  /// The same, skipping blank lines. Throws input_error for more than 1 MiB of them in sequence: a small compressed
  /// file may hold gigabytes.
  bool next_with_text(std::string_view& line);

  /// The buffered text after the present line, possibly empty; valid until the next call of next().
  [[nodiscard]] std::string_view unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  /// Skips a line of unread() that has `bytes` bytes including its line end.
  void skip_line(std::size_t bytes) {
    begin_ += bytes;
    ++line_;
  }

  [[nodiscard]] const std::string& file() const { return file_; }
  /// The number of the line that next() returned last, from 1.
  [[nodiscard]] std::uint32_t line() const { return line_; }
  /// Throws input_error at a column (from 1) of the present line.
  [[noreturn]] void fail(std::size_t column, const std::string& message) const;

 private:
  bool refill();

  std::string file_;
  std::unique_ptr<byte_source> source_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;  // unread text is [begin_, end_)
  std::size_t end_ = 0;
  bool exhausted_ = false;
  std::uint32_t line_ = 0;
};

}  // namespace heddle::sass_trace

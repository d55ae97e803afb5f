// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "heddle/frontend/sass_trace/text/byte_source.h"

namespace heddle::sass_trace {

/// The lines of a text file. A name that ends in .xz, .zst or .gz is decompressed on the way. Memory does not depend on
/// the file's size.
class line_reader {
 public:
  /// Throws input_error when the file cannot be read or is no regular file.
  explicit line_reader(const std::string& file);

  /// The next line, without its end; false at the end of the file. The text is valid until the next call. Throws
  /// input_error when the compressed data are broken or a line is longer than any trace's.
  bool next(std::string_view& line);
  /// The same, over blank lines.
  bool next_with_text(std::string_view& line);

  /// Text behind the present line as far as it is in memory, perhaps none, and valid until the next call of next().
  std::string_view unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  /// Goes over a line of unread() that is `bytes` long with its end.
  void skip_line(std::size_t bytes) {
    begin_ += bytes;
    ++line_;
  }

  const std::string& file() const { return file_; }
  /// Number of the line that next() gave last, from 1.
  std::uint32_t line() const { return line_; }
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

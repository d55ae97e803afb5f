// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/text/line_reader.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/text/trace_text.h"
#include "heddle/frontend/sass_trace/text/tracez_source.h"

namespace heddle::sass_trace {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t longest_line = buffer_bytes / 4;
constexpr std::size_t most_blank_bytes = std::size_t{1} << 20;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
// Per read: small enough that the text is still in the host's caches when it is parsed.
constexpr std::size_t read_bytes = std::size_t{1} << 16;

}  // namespace

line_reader::line_reader(const std::string& file)
    : file_(file),
      source_(is_tracez(file) ? open_tracez(file) : byte_source::open(file)),
      buffer_(new char[buffer_bytes]) {}

bool line_reader::next(std::string_view& line) {
  for (;;) {
    const char* from = buffer_.get() + begin_;
    const std::size_t left = end_ - begin_;
    if (const void* found = left == 0 ? nullptr : std::memchr(from, '\n', left)) {
      const std::size_t length = static_cast<std::size_t>(static_cast<const char*>(found) - from);
      line = {from, length};
      begin_ += length + 1;
      if (++line_ == 1 && starts_with(line, byte_order_mark)) line.remove_prefix(byte_order_mark.size());
      return true;
    }
    if (left > longest_line) {
      ++line_;
      fail(1, "a line longer than " + std::to_string(longest_line) + " bytes, expected a trace in text form");
    }
    if (refill()) continue;
    if (left == 0) return false;
    line = {from, left};
    begin_ = end_;
    if (++line_ == 1 && starts_with(line, byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    return true;
  }
}

bool line_reader::next_with_text(std::string_view& line) {
  for (std::size_t blanks = 0; next(line); blanks += line.size() + 1) {
    const std::size_t at = line.find_first_not_of(" \t\r");
    if (at != std::string_view::npos) return true;
    if (blanks > most_blank_bytes) fail(1, "more than 1 MiB of blank lines in sequence, which no trace has");
  }
  return false;
}

// Reads more text after the remaining text; false at the end of the file, in which case the remaining text is not
// moved.
bool line_reader::refill() {
  if (exhausted_) return false;
  if (begin_ != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  std::size_t n = 0;
  try {
    n = source_->read(buffer_.get() + end_, std::min(buffer_bytes - end_, read_bytes));
  } catch (const std::exception& e) {
    ++line_;
    fail(1, std::string("the file is broken or truncated here (") + e.what() + ")");
  }
  exhausted_ = n == 0;
  end_ += n;
  return true;
}

void line_reader::fail(std::size_t column, const std::string& message) const {
  throw input_error(file_, line_, static_cast<std::uint32_t>(column), message);
}

}  // namespace heddle::sass_trace

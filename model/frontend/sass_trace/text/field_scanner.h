// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heddle/frontend/sass_trace/text/line_reader.h"

namespace heddle::sass_trace {

/// Parses the blank-separated fields of one line from left to right. An unexpected field throws input_error at its
/// column; the message is "got '…', expected " followed by `what`.
class field_scanner {
 public:
  field_scanner(std::string_view line, const line_reader& place)
      : begin_(line.data()), at_(line.data()), end_(line.data() + line.size()), place_(place) {}

  /// A hexadecimal number of at most `bits` bits, with or without 0x.
  std::uint64_t hex(unsigned bits, const char* what) {
    skip_blanks();
    const char* from = at_;
    if (end_ - at_ > 2 && at_[0] == '0' && (at_[1] | 0x20) == 'x') at_ += 2;
    const char* digits = at_;
    std::uint64_t value = 0;
    std::uint64_t lost = 0;  // bits beyond the 64th
    const char* at = at_;    // local copy, which stays in a register
    for (; at < end_; ++at) {
      const unsigned d = digit(*at);
      if (d > 15) break;
      lost |= value >> 60;
      value = value << 4 | d;
    }
    at_ = at;
    const bool fits = lost == 0;
    if (at_ == digits || !at_separator() || !fits || (bits < 64 && value >> bits != 0)) refuse(from, what);
    return value;
  }
  /// A decimal number from 0 to `most`.
  std::uint64_t decimal(std::uint64_t most, const char* what) {
    skip_blanks();
    const char* from = at_;
    const std::uint64_t value = digits(from, what);
    if (value > most || !at_separator()) refuse(from, what);
    return value;
  }
  /// A decimal number of 64 bits with an optional sign, as C's printf writes signed and unsigned numbers.
  std::int64_t integer(const char* what) {
    skip_blanks();
    const char* from = at_;
    const bool negative = at_ < end_ && *at_ == '-';
    at_ += negative;
    const std::uint64_t value = digits(from, what);
    if (!at_separator() || (negative && value > std::uint64_t{1} << 63)) refuse(from, what);
    return static_cast<std::int64_t>(negative ? 0 - value : value);
  }
  /// The text up to the next blank; empty at the end of the line.
  std::string_view word() {
    skip_blanks();
    const char* from = at_;
    while (!at_separator()) ++at_;
    return {from, static_cast<std::size_t>(at_ - from)};
  }
  /// True if only blanks are left.
  bool done() {
    skip_blanks();
    return at_ == end_;
  }
  void expect_end(const char* what) {
    if (!done()) refuse(at_, what);
  }
  [[nodiscard]] std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  void skip(std::size_t characters) { at_ += characters; }
  void skip_blanks() {
    while (at_ < end_ && blank(*at_)) ++at_;
  }
  [[nodiscard]] const char* position() const { return at_; }
  [[nodiscard]] std::size_t column() const { return static_cast<std::size_t>(at_ - begin_); }
  /// Parses a hexadecimal number of at most 64 bits, with or without 0x, that starts at `from` and ends before a blank
  /// or the end of a line. Returns its end, or `from` if there is no such number.
  static std::size_t hex_word(std::string_view text, std::size_t from, std::uint64_t& value) {
    std::size_t at = from;
    if (text.size() - at > 2 && text[at] == '0' && (text[at + 1] | 0x20) == 'x') at += 2;
    const std::size_t digits = at;
    for (value = 0; at < text.size(); ++at) {
      const unsigned d = digit(text[at]);
      if (d > 15) break;
      value = value << 4 | d;
    }
    const bool good = at != digits && at - digits <= 16 && at < text.size() && (blank(text[at]) || text[at] == '\n');
    return good ? at : from;
  }
  [[noreturn]] void refuse(const char* from, const char* what) const;

 private:
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  // The value of each character as a hexadecimal digit; 16: not a digit.
  static constexpr std::array<std::uint8_t, 256> hex_digits() {
    std::array<std::uint8_t, 256> t{};
    for (auto& d : t) d = 16;
    for (std::uint8_t k = 0; k < 10; ++k) t['0' + std::size_t{k}] = k;
    for (std::uint8_t k = 10; k < 16; ++k) t['a' + std::size_t{k} - 10] = t['A' + std::size_t{k} - 10] = k;
    return t;
  }
  static unsigned digit(char c) {
    static constexpr std::array<std::uint8_t, 256> table = hex_digits();
    return table[static_cast<unsigned char>(c)];
  }
  [[nodiscard]] bool at_separator() const { return at_ == end_ || blank(*at_); }
  std::uint64_t digits(const char* from, const char* what) {
    const char* first = at_;
    std::uint64_t value = 0;
    for (; at_ < end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
      const unsigned d = static_cast<unsigned>(*at_ - '0');
      if (value > (~std::uint64_t{0} - d) / 10) refuse(from, what);
      value = value * 10 + d;
    }
    if (at_ == first) refuse(from, what);
    return value;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const line_reader& place_;
};

}  // namespace heddle::sass_trace

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace heddle::testbench {

constexpr std::uint64_t largest_u32 = std::numeric_limits<std::uint32_t>::max();

/// Whole numbers, decimal or 0x hexadecimal, without other characters. False: not a number, or out of range.
bool parse_unsigned(const std::string& text, std::uint64_t& value);
bool parse_signed(const std::string& text, std::int64_t& value);
/// Decimal or hexadecimal floating point, inf and nan, correctly rounded.
bool parse_float(const std::string& text, float& value);
bool parse_float(const std::string& text, double& value);
/// "2" or "2%" as 0.02; false unless it is between 0 and 100 %.
bool parse_percentage(const std::string& text, double& value);

std::vector<std::string> split(const std::string& text, char separator);
std::string join(const std::vector<std::string>& parts, const std::string& separator);

inline bool begins(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }
inline bool ends(const std::string& text, const std::string& with) {
  return text.size() >= with.size() && text.compare(text.size() - with.size(), with.size(), with) == 0;
}

/// Size of a readable regular file; throws input_error whose message begins with `who` (the file's user).
std::uint64_t readable_size(const std::string& path, const std::string& who);
/// The content of a file of at most file_access::largest_text bytes; throws input_error like readable_size.
std::string read_file(const std::string& path, const std::string& who);
/// As read_file(), or reads a stream opened by the shell to its end: `-` (standard input), /dev/stdin, process
/// substitution.
std::string read_file_or_stream(const std::string& path, const std::string& who);

/// A field of a CSV file (RFC 4180): in quotes where it needs them.
std::string csv_field(const std::string& text);
/// As a cell of a table in Markdown: what has a meaning there is escaped, control characters are spaces.
std::string markdown_cell(const std::string& text);
/// 0.1234 as "12.3 %".
std::string percent(double share);
/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace heddle::testbench

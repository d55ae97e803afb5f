// SPDX-License-Identifier: MIT
#include "testbench/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "heddle/config/error.h"
#include "heddle/config/input_file.h"
#include "testbench/files/file_access.h"

namespace heddle::testbench {

bool parse_unsigned(const std::string& text, std::uint64_t& value) {
  const char* first = text.data();
  const char* last = first + text.size();
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    first += 2;
    base = 16;
  }
  auto [end, error] = std::from_chars(first, last, value, base);
  return error == std::errc() && end == last;
}

bool parse_signed(const std::string& text, std::int64_t& value) {
  const bool negative = !text.empty() && text[0] == '-';
  std::uint64_t magnitude = 0;
  if (!parse_unsigned(negative ? text.substr(1) : text, magnitude)) return false;
  constexpr std::uint64_t limit = std::uint64_t{1} << 63;
  if (magnitude > (negative ? limit : limit - 1)) return false;
  value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return true;
}

namespace {

template <class T, class Convert>
bool convert_float(const std::string& text, T& value, Convert convert) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) || text.find('(') != std::string::npos)
    return false;  // no "nan(5)" either
  char* end = nullptr;
  value = convert(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

}  // namespace

bool parse_float(const std::string& text, float& value) { return convert_float(text, value, std::strtof); }
bool parse_float(const std::string& text, double& value) { return convert_float(text, value, std::strtod); }

bool parse_percentage(const std::string& text, double& value) {
  const std::string number = ends(text, "%") ? text.substr(0, text.size() - 1) : text;
  if (!parse_float(number, value) || !(value > 0 && value < 100)) return false;
  value /= 100;
  return true;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const auto& part : parts) text += (&part == parts.data() ? "" : separator) + part;
  return text;
}

std::uint64_t readable_size(const std::string& path, const std::string& who) { return file_access().size(path, who); }

std::string read_file(const std::string& path, const std::string& who) {
  return file_access().read(path, who, file_access::largest_text);
}

std::string read_file_or_stream(const std::string& path, const std::string& who) {
  const std::string name = path == "-" ? "/dev/stdin" : path;
  if (!names_own_descriptor(name)) return read_file(path, who);
  input_file file(name, input_file::kind::regular_or_own_descriptor);
  std::string content;
  const std::string problem = file.problem().empty() ? file.read(content, file_access::largest_text) : file.problem();
  if (!problem.empty()) throw input_error(who + ": cannot read '" + path + "': " + problem);
  return content;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '<') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#include "testbench/report/report_page.h"

#include <cstddef>
#include <string_view>

#include "config/error.h"
#include "testbench/report/page_template.h"

namespace heddle::testbench {

namespace {

// What stands in the page where the data belong.
constexpr std::string_view mark = "@HEDDLE_DATA@";

// Length of the UTF-8 sequence that begins at `at`, 0 if there is none (RFC 3629: no surrogates, nothing longer than needed).
std::size_t sequence(const std::string& s, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const unsigned c = byte(at);
  if (c < 0x80) return 1;
  const std::size_t n = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
  for (std::size_t i = 1; i < n; ++i)
    if (byte(at + i) < 0x80 || byte(at + i) > 0xbf) return 0;
  const unsigned second = byte(at + 1);
  if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) || (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f))
    return 0;
  return n;
}

}  // namespace

std::string valid_utf8(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t n = sequence(text, at);
    n != 0 ? out.append(text, at, n) : out.append("\xef\xbf\xbd");
    at += n != 0 ? n : 1;
  }
  return out;
}

std::string report_page(const std::string& json) {
  const std::string_view page = page_template();
  const std::size_t at = page.find(mark);
  invariant(at != std::string_view::npos && page.find(mark, at + 1) == std::string_view::npos, "the report's page has no place for data");
  std::string out(page.substr(0, at));
  // Only strings of a JSON text can hold these, and there an escape means the same.
  for (const char c : valid_utf8(json)) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out.append(page.substr(at + mark.size()));
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#include "testbench/report/report_page.h"

#include <cstddef>
#include <string_view>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/report/page_template.h"

namespace heddle::testbench {

namespace {

// The placeholder for the data in the page.
constexpr std::string_view mark = "@HEDDLE_DATA@";

}  // namespace

std::string valid_utf8(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  std::size_t copied = 0;  // what is valid is copied in runs up to the next byte that is not
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t n = static_cast<unsigned char>(text[at]) < 0x80 ? 1 : utf8_sequence(text, at);
    if (n == 0) {
      out.append(text, copied, at - copied).append("\xef\xbf\xbd");
      copied = at + 1;
    }
    at += n != 0 ? n : 1;
  }
  return out.append(text, copied, std::string::npos);
}

std::string report_page(const std::string& json) {
  const std::string_view page = page_template();
  const std::size_t at = page.find(mark);
  invariant(at != std::string_view::npos && page.find(mark, at + 1) == std::string_view::npos,
            "the report's page has no place for data");
  std::string out(page.substr(0, at));
  // In JSON these characters occur only inside strings, where the escape is equivalent.
  for (const char c : valid_utf8(json)) {
    if (c == '<') out += "\\u003c";
    else if (c == '>') out += "\\u003e";
    else if (c == '&') out += "\\u0026";
    else out += c;
  }
  return out.append(page.substr(at + mark.size()));
}

}  // namespace heddle::testbench

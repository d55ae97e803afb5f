// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/text/field_scanner.h"

#include <algorithm>

#include "heddle/frontend/sass_trace/text/trace_text.h"

namespace heddle::sass_trace {

void field_scanner::refuse(const char* from, const char* what) const {
  const char* to = std::find_if(from, end_, blank);
  const std::string got = shown({from, static_cast<std::size_t>(to - from)});
  place_.fail(static_cast<std::size_t>(from - begin_) + 1,
              (got.empty() ? "the line ends, expected " : "got '" + got + "', expected ") + std::string(what));
}

}  // namespace heddle::sass_trace

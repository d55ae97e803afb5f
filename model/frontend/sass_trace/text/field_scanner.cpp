// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/text/field_scanner.h"

namespace heddle::sass_trace {

void field_scanner::refuse(const char* from, const char* what) const {
  constexpr std::size_t most_shown = 40;
  const char* to = from;
  while (to < end_ && !blank(*to)) ++to;
  std::string got;
  for (const char* c = from; c < to && got.size() < most_shown; ++c) got += *c >= ' ' && *c <= '~' ? *c : '?';
  place_.fail(static_cast<std::size_t>(from - begin_) + 1,
              (got.empty() ? "the line ends, expected " : "got '" + got + "', expected ") + std::string(what));
}

}  // namespace heddle::sass_trace

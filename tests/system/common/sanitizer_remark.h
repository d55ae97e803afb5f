// SPDX-License-Identifier: MIT
#pragma once

#include <string>

/// The program's output without a three-line remark of the address sanitizer, which appears once when an exception is
/// thrown on a coroutine's stack.
inline std::string without_sanitizer_remark(std::string text) {
  const std::string remark = "WARNING: ASan is ignoring requested __asan_handle_no_return",
                    end = "sanitizers/issues/189\n";
  const std::size_t at = text.find(remark), last = text.find(end);
  if (at == std::string::npos || last == std::string::npos) return text;
  const std::size_t start = text.rfind('\n', at) + 1;  // npos + 1 is 0
  return text.erase(start, last + end.size() - start);
}

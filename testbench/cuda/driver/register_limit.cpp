// SPDX-License-Identifier: MIT
#include "testbench/cuda/driver/register_limit.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace heddle::cuda {

namespace {

/// The place behind the comment or the string that begins here; the same place: none does.
std::size_t behind_text(const std::string& ptx, std::size_t at) {
  const auto behind = [&](const char* end, std::size_t from) {
    const std::size_t found = ptx.find(end, from);
    return found == std::string::npos ? ptx.size() : found + std::char_traits<char>::length(end);
  };
  if (ptx.compare(at, 2, "//") == 0) return behind("\n", at);
  if (ptx.compare(at, 2, "/*") == 0) return behind("*/", at + 2);
  if (ptx[at] == '"') return behind("\"", at + 1);
  return at;
}

bool has_bounds(const std::string& head) {
  constexpr const char* bounds[] = {".maxnreg", ".maxntid", ".reqntid", ".minnctapersm"};
  return std::any_of(std::begin(bounds), std::end(bounds),
                     [&](const char* b) { return head.find(b) != std::string::npos; });
}

}  // namespace

std::string with_register_limit(const std::string& ptx, unsigned registers) {
  constexpr const char* entry = ".entry";
  std::string out, head;  // of a kernel, up to its body; empty: not within one
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t behind = behind_text(ptx, at);
    if (behind != at) {
      out.append(ptx, at, behind - at);
      at = behind;
      continue;
    }
    if (head.empty() && ptx.compare(at, std::char_traits<char>::length(entry), entry) != 0) {
      out += ptx[at++];
      continue;
    }
    if (ptx[at] == '{' && !has_bounds(head)) out += ".maxnreg " + std::to_string(registers) + " ";
    if (ptx[at] == '{' || ptx[at] == ';') head.clear();
    else head += ptx[at];
    out += ptx[at++];
  }
  return out;
}

}  // namespace heddle::cuda

// SPDX-License-Identifier: MIT
#include "heddle/sanitize/findings.h"

#include <cstdio>

namespace heddle {

void findings::races_with_read(const isa::program* p, std::uint32_t write, std::uint32_t launch, bool marks,
                               std::uint32_t value) {
  marking_write& w = writes_.emplace(std::pair{p, write}, marking_write{launch, value, marks}).first->second;
  w.marks = w.marks && marks && (w.launch != launch || w.value == value);
  w.launch = launch;
  w.value = value;
}

std::vector<finding> findings::take_intended() {
  std::vector<finding> intended, rest;
  for (finding& f : all_) {
    const auto write = writes_.find({f.program, f.writer});
    const bool marks = f.writer != isa::no_target && write != writes_.end() && write->second.marks;
    (marks ? intended : rest).push_back(std::move(f));
  }
  all_ = std::move(rest);
  numbers_.clear();
  return intended;
}

std::string place_in_source(const isa::program& p, const isa::instruction& i) {
  const std::string source = p.source ? p.source->text(i.line) : std::string();
  return source.empty() ? p.file + ":" + std::to_string(i.line) + ":" + std::to_string(i.column) : source;
}

std::string thread_text(const simt::launch_context& l, std::uint64_t block, std::uint32_t thread) {
  const auto triple = [](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
  };
  const simt::dim3 &g = l.grid, &b = l.block;
  return "block " + triple(block % g.x, block / g.x % g.y, block / g.x / g.y) + ", thread " +
         triple(thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace heddle

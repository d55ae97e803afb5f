// SPDX-License-Identifier: MIT
#include "heddle/sanitize/findings.h"

#include <algorithm>
#include <cstdio>

#include "heddle/sanitize/sanitize_kinds.h"

namespace heddle {

namespace {

// What it says, without the address and the threads.
std::string without_numbers(const finding& f) {
  std::string text = std::to_string(f.kind) + f.kernel + "\n" + f.place + "\n";
  const std::size_t address = f.what.find(" at 0x");
  text += f.what.substr(0, address);
  if (address != std::string::npos) text += f.what.substr(std::min(f.what.find(' ', address + 4), f.what.size()));
  for (const std::string& line : f.details) text += "\n" + line.substr(std::min(line.rfind(", at "), line.size()));
  return text;
}

}  // namespace

void findings::join_by_line() {
  std::map<std::string, std::size_t> places;
  std::vector<finding> joined;
  for (finding& f : all_) {
    const auto [entry, is_new] = places.emplace(without_numbers(f), joined.size());
    if (is_new) {
      joined.push_back(std::move(f));
      continue;
    }
    finding& same = joined[entry->second];
    same.cases += f.cases;
    same.at_least = same.at_least || f.at_least;
  }
  all_ = std::move(joined);
  recent_.fill({});
}

void findings::counts_in_part(const isa::program* p, const std::vector<std::uint8_t>& instructions) {
  for (const auto& [group, number] : numbers_) {
    const auto& [kind, program, earlier, later, path] = group;
    if (kind != sanitize_kind::races || program != p || number >= all_.size()) continue;
    finding& f = all_[number];
    f.at_least = f.at_least || instructions.at(earlier) != 0 || instructions.at(later) != 0;
  }
}

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
  recent_.fill({});
  return intended;
}

std::string place_in_source(const isa::program& p, const isa::instruction& i) {
  const std::string source = p.source ? p.source->text(i.line) : std::string();
  return source.empty() ? p.file + ":" + std::to_string(i.line) + ":" + std::to_string(i.column) : source;
}

namespace {

std::string triple(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

}  // namespace

std::string block_text(const simt::launch_context& l, std::uint64_t block) {
  const simt::dim3& g = l.grid;
  return "block " + triple(block % g.x, block / g.x % g.y, block / g.x / g.y);
}

std::string thread_text(const simt::launch_context& l, std::uint64_t block, std::uint32_t thread) {
  return thread_text(l.grid, l.block, block, thread);
}

std::string thread_text(const simt::dim3& g, const simt::dim3& b, std::uint64_t block, std::uint32_t thread) {
  return "block " + triple(block % g.x, block / g.x % g.y, block / g.x / g.y) + ", thread " +
         triple(thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace heddle

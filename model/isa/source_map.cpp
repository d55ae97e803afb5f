// SPDX-License-Identifier: MIT
#include "heddle/isa/source_map.h"

#include <algorithm>

namespace heddle::isa {

const source_map::place* source_map::at(std::uint32_t ptx_line) const {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), ptx_line,
                                      [](std::uint32_t line, const range& r) { return line < r.first_line; });
  if (after == ranges.begin() || (after - 1)->place == none) return nullptr;
  return &places[(after - 1)->place];
}

std::string source_map::short_name(const place& p) const {
  const std::string& file = files[p.file];
  return file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(p.line);
}

std::string source_map::short_text(std::uint32_t ptx_line) const {
  const place* p = at(ptx_line);
  return p == nullptr ? "" : short_name(*p);
}

std::string source_map::short_stack(std::uint32_t ptx_line) const {
  std::string text;
  for (const place* p = at(ptx_line); p != nullptr; p = p->caller == none ? nullptr : &places[p->caller])
    text += (text.empty() ? "" : ", called at ") + short_name(*p);
  return text;
}

std::string source_map::text(std::uint32_t ptx_line) const {
  std::string text;
  for (const place* p = at(ptx_line); p != nullptr; p = p->caller == none ? nullptr : &places[p->caller]) {
    text += (text.empty() ? "" : ", called at ") + files[p->file] + ":" + std::to_string(p->line);
    if (p->function != none) text += " in " + functions[p->function];
  }
  return text;
}

void source_map::append(const source_map& other) {
  const auto moved = [](std::uint32_t index, std::size_t by) {
    return index == none ? none : index + static_cast<std::uint32_t>(by);
  };
  const std::size_t file = files.size(), function = functions.size(), first = places.size();
  files.insert(files.end(), other.files.begin(), other.files.end());
  functions.insert(functions.end(), other.functions.begin(), other.functions.end());
  for (place p : other.places) {
    p.file = moved(p.file, file);
    p.function = moved(p.function, function);
    p.caller = moved(p.caller, first);
    places.push_back(p);
  }
  for (range r : other.ranges) {
    r.place = moved(r.place, first);
    ranges.push_back(r);
  }
}

}  // namespace heddle::isa

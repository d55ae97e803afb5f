// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/syntax/debug_lines.h"

#include <cxxabi.h>

#include <cstdlib>
#include <utility>

namespace heddle::ptx {

namespace {

using isa::source_map;

std::string demangled(const std::string& name) {
  if (name.rfind("_Z", 0) != 0) return name;  // a type's code is a mangled name, too
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                          &std::free);
  return status == 0 ? plain.get() : name;
}

}  // namespace

std::uint32_t debug_lines::place(position where, std::uint32_t function, std::uint32_t caller) {
  const auto [at, fresh] =
      places_.try_emplace({where.file, where.line, where.column, function, caller}, map_.places.size());
  if (fresh) map_.places.push_back({where.file, where.line, where.column, function, caller});
  latest_[{where.file, where.line, where.column}] = at->second;
  return at->second;
}

void debug_lines::begin(std::uint32_t ptx_line, std::uint32_t place) {
  if (!map_.ranges.empty() && map_.ranges.back().first_line == ptx_line) map_.ranges.back().place = place;
  else map_.ranges.push_back({ptx_line, place});
}

void debug_lines::at(std::uint32_t ptx_line, position where) {
  begin(ptx_line, place(where, source_map::none, source_map::none));
}

void debug_lines::inlined(std::uint32_t ptx_line, position where, const std::string& label, position call) {
  // The directive for the call stands before, with the function that the call itself is inlined in.
  const auto known = latest_.find({call.file, call.line, call.column});
  const std::uint32_t caller = known != latest_.end() ? known->second : place(call, source_map::none, source_map::none);
  const std::uint32_t function = labels_.try_emplace(label, static_cast<std::uint32_t>(labels_.size())).first->second;
  begin(ptx_line, place(where, function, caller));
}

void debug_lines::unknown(std::uint32_t ptx_line) {
  if (!map_.ranges.empty()) begin(ptx_line, source_map::none);
}

std::shared_ptr<const source_map> debug_lines::map() const {
  if (map_.ranges.empty()) return nullptr;
  auto made = std::make_shared<source_map>(map_);
  std::map<std::uint32_t, std::uint32_t> index;
  for (source_map::place& p : made->places) {
    const auto [at, fresh] = index.try_emplace(p.file, static_cast<std::uint32_t>(made->files.size()));
    if (fresh) {
      const auto name = names_.find(p.file);
      made->files.push_back(name != names_.end() ? name->second : "file " + std::to_string(p.file));
    }
    p.file = at->second;
  }
  made->functions.resize(labels_.size());
  for (const auto& [label, number] : labels_) {
    const auto name = strings_.find(label);
    made->functions[number] = name != strings_.end() ? demangled(name->second) : label;
  }
  return made;
}

}  // namespace heddle::ptx

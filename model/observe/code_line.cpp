// SPDX-License-Identifier: MIT
#include "heddle/observe/code_line.h"

#include <cstdio>

#include "heddle/isa/program.h"
#include "heddle/isa/source_map.h"
#include "heddle/observe/ends_with.h"

namespace heddle {

bool code_line::is_in(const std::string& path) const {
  return file.empty() || path == file || ends_with(path, "/" + file);
}

bool code_line::holds(const isa::program& program, std::uint32_t ptx_line) const {
  if (ptx_line == line && is_in(program.file)) return true;
  if (program.source == nullptr) return false;
  const isa::source_map& map = *program.source;
  for (const isa::source_map::place* p = map.at(ptx_line); p != nullptr;
       p = p->caller == isa::source_map::none ? nullptr : &map.places[p->caller])
    if (p->line == line && is_in(map.files[p->file])) return true;
  return false;
}

std::string line_text(const isa::program& program, std::uint32_t ptx_line) {
  if (!program.recorded.empty()) {
    char address[16];
    std::snprintf(address, sizeof address, "%#x", ptx_line);
    return address;
  }
  if (program.source != nullptr)
    if (const std::string text = program.source->short_text(ptx_line); !text.empty()) return text;
  return program.file.substr(program.file.find_last_of('/') + 1) + ":" + std::to_string(ptx_line);
}

}  // namespace heddle

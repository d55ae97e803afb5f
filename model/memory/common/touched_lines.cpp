// SPDX-License-Identifier: MIT
#include "heddle/memory/common/touched_lines.h"

#include <algorithm>
#include <utility>

#include "heddle/isa/set_bits.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

void touched_lines::add(const std::uint64_t addresses[32], std::uint32_t lanes, unsigned bytes, line_use use) {
  std::uint64_t line = no_line;
  unsigned sectors = 0;
  for (const unsigned l : set_bits(lanes)) {
    const std::uint64_t begin = addresses[l] / sector_bytes, end = (addresses[l] + bytes - 1) / sector_bytes;
    for (std::uint64_t s = begin; s <= end; ++s) {
      const std::uint64_t here = s / sectors_per_line * line_bytes;
      if (here != line && sectors != 0) touch(line, std::exchange(sectors, 0), use);
      line = here;
      sectors |= 1u << s % sectors_per_line;
    }
  }
  if (sectors != 0) touch(line, sectors, use);
}

void touched_lines::add(std::uint64_t address, std::uint64_t bytes, line_use use) {
  const std::uint64_t end = address + bytes;
  while (address < end) {
    const std::uint64_t line = address / line_bytes * line_bytes, last = std::min(end, line + line_bytes) - 1;
    const auto from = static_cast<unsigned>((address - line) / sector_bytes);
    const auto to = static_cast<unsigned>((last - line) / sector_bytes);
    touch(line, (2u << to) - (1u << from), use);
    address = last + 1;
  }
}

void touched_lines::touch(std::uint64_t line, unsigned sectors, line_use use) {
  if (use == line_use::reads) {
    known& k = read_[line / line_bytes % read_.size()];
    if (k.line == line && (sectors & ~k.sectors) == 0) return;
    if (k.line != line) k = {line, 0};
    k.sectors |= static_cast<std::uint8_t>(sectors);
  }
  if (!lines_.empty() && lines_.back().line == line && lines_.back().use == use)
    lines_.back().sectors |= static_cast<std::uint8_t>(sectors);
  else lines_.push_back({line, static_cast<std::uint8_t>(sectors), use});
}

std::vector<line_touch> touched_lines::take() {
  read_.fill({});
  return std::exchange(lines_, {});
}

}  // namespace heddle

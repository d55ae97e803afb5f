// SPDX-License-Identifier: MIT
#include "memory/line_store.h"

#include <new>

namespace heddle {

line_store::line_store(unsigned sets, unsigned ways)
    : sets_(sets),
      ways_(ways),
      set_mask_((sets & (sets - 1)) == 0 ? sets - 1 : 0),
      tags_(std::size_t{sets} * ways, empty),
      used_(std::size_t{sets} * ways, 0),
      states_(std::size_t{sets} * ways),
      bytes_(static_cast<std::uint8_t*>(std::calloc(std::size_t{sets} * ways, line_bytes))) {
  if (bytes_ == nullptr) throw std::bad_alloc();
}

std::uint32_t line_store::victim(std::uint64_t line) const {
  const std::uint32_t base = set_of(line) * ways_;
  std::uint32_t best = none;
  for (std::uint32_t s = base; s < base + ways_; ++s) {
    if (states_[s].mshr != none) continue;
    if (best == none || used_[s] < used_[best]) best = s;
  }
  return best;
}

void line_store::install(std::uint32_t slot, std::uint64_t line) {
  tags_[slot] = line;
  states_[slot] = state{};
  touch(slot);
}

}  // namespace heddle

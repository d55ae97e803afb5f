// SPDX-License-Identifier: MIT
#include "memory/line_store.h"

#include <new>

namespace heddle {

line_store::line_store(unsigned sets, unsigned ways, const replacement& policy)
    : sets_(sets),
      ways_(ways),
      policy_(policy),
      set_mask_((sets & (sets - 1)) == 0 ? sets - 1 : 0),
      tags_(std::size_t{sets} * ways, empty),
      used_(std::size_t{sets} * ways, 0),
      states_(std::size_t{sets} * ways),
      bytes_(static_cast<std::uint8_t*>(std::calloc(std::size_t{sets} * ways, line_bytes))) {
  if (bytes_ == nullptr) throw std::bad_alloc();
}

std::uint32_t line_store::victim(std::uint64_t line) {
  const std::uint32_t base = set_of(line) * ways_;
  const unsigned way = policy_.choose(
      ways_, [&](unsigned w) { return used_[base + w]; }, [&](unsigned w) { return states_[base + w].mshr == none; });
  return way == ways_ ? none : base + way;
}

void line_store::install(std::uint32_t slot, std::uint64_t line) {
  tags_[slot] = line;
  states_[slot] = state{};
  used_[slot] = ++clock_;
}

}  // namespace heddle

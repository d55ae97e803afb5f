// SPDX-License-Identifier: MIT
#include "heddle/memory/common/spaced_heap.h"

#include <algorithm>

namespace heddle {

namespace {
constexpr std::uint64_t alignment = 16, least_gap = 64, most_gap = 4096;
constexpr std::uint64_t before_reuse = std::uint64_t{64} << 20;  // bytes of a launch
}  // namespace

void spaced_heap::start() {
  taken_.clear();
  freed_.clear();
  if (next_ - begin > bytes / 2) next_ = begin;
  started_ = next_;
}

std::uint64_t spaced_heap::place(std::uint64_t given, std::uint64_t size) {
  const std::uint64_t extent = (size + alignment - 1) / alignment * alignment + std::clamp(size, least_gap, most_gap);
  const std::uint64_t whole = (extent + alignment - 1) / alignment * alignment;
  std::uint64_t address = next_;
  const auto old = freed_.find(whole);
  if (next_ - started_ > before_reuse && old != freed_.end() && !old->second.empty()) {
    address = old->second.front();
    old->second.pop_front();
  } else {
    next_ += whole;
  }
  taken_[address] = {given, whole};
  return address;
}

std::uint64_t spaced_heap::release(std::uint64_t address) {
  const auto found = taken_.find(address);
  if (found == taken_.end()) return 0;
  const block b = found->second;
  freed_[b.extent].push_back(address);
  taken_.erase(found);
  return b.given;
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/runtime/device_heap.h"

#include <iterator>

namespace heddle {

void device_heap::place(std::uint64_t base, std::uint64_t bytes) {
  gaps_.clear();
  taken_.clear();
  if (bytes != 0) gaps_[base] = bytes;
}

std::uint64_t device_heap::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > ~std::uint64_t{15}) return 0;
  bytes = (bytes + 15) / 16 * 16;
  for (auto g = gaps_.begin(); g != gaps_.end(); ++g) {
    if (g->second < bytes) continue;
    const std::uint64_t address = g->first, rest = g->second - bytes;
    gaps_.erase(g);
    if (rest != 0) gaps_[address + bytes] = rest;
    taken_[address] = bytes;
    return address;
  }
  return 0;
}

bool device_heap::free(std::uint64_t address) {
  const auto t = taken_.find(address);
  if (t == taken_.end()) return false;
  auto g = gaps_.emplace(address, t->second).first;
  taken_.erase(t);
  const auto after = std::next(g);
  if (after != gaps_.end() && g->first + g->second == after->first) {
    g->second += after->second;
    gaps_.erase(after);
  }
  if (g == gaps_.begin()) return true;
  const auto before = std::prev(g);
  if (before->first + before->second != g->first) return true;
  before->second += g->second;
  gaps_.erase(g);
  return true;
}

}  // namespace heddle

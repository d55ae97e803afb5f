// SPDX-License-Identifier: MIT
#include "heddle/sanitize/allocations.h"

#include <algorithm>
#include <cstring>

namespace heddle::sanitize {

void allocations::add(std::uint64_t address, allocation a) {
  if (!a.written_at_start) {
    a.bits.reset(static_cast<std::uint8_t*>(std::calloc(a.bytes, 1)));
    a.written_at_start = !a.bits;
    tracked_ += !a.written_at_start;
  }
  freed_.erase(address);
  live_[address] = std::move(a);
  ++changes_;
}

void allocations::remove(std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  tracked_ -= !found->second.written_at_start;
  freed_[address] = found->second.bytes;
  live_.erase(found);
  ++changes_;
}

bool allocations::begins_in(std::uint64_t begin, std::uint64_t end) const {
  const auto first = live_.lower_bound(begin);
  return first != live_.end() && first->first < end;
}

allocation* allocations::containing(std::uint64_t address, std::uint64_t& begin) {
  constexpr std::uint64_t smallest = 16;  // of malloc
  const auto holds = [&](const place& p) { return p.changes == changes_ && address - p.begin < p.found->bytes; };
  if (!holds(last_)) {
    place& recent = recent_[address / smallest % recent_.size()];
    if (!holds(recent)) {
      auto after = live_.upper_bound(address);
      if (after == live_.begin()) return nullptr;
      --after;
      if (address - after->first >= after->second.bytes) return nullptr;
      recent = {after->first, &after->second, changes_};
    }
    last_ = recent;
  }
  begin = last_.begin;
  return last_.found;
}

void allocations::written(std::uint64_t address, std::uint64_t bytes, bool by_host) {
  if (tracked_ == 0) return;
  for (std::uint64_t done = 0; done < bytes;) {
    std::uint64_t begin = 0;
    allocation* const a = containing(address + done, begin);
    if (a == nullptr) {  // up to the next allocation
      const auto next = live_.upper_bound(address + done);
      if (next == live_.end() || next->first - address >= bytes) return;
      done = next->first - address;
      continue;
    }
    const std::uint64_t at = address + done - begin, n = std::min(bytes - done, a->bytes - at);
    if (at + n <= a->written_to && !by_host) {
      done += n;
      continue;
    }
    if (by_host && !a->written_at_start)
      for (const std::uint64_t edge : {at, at + n})
        if (edge % 4 != 0) a->cuts.insert(edge / 4);
    if (!a->written_at_start) std::memset(a->bits.get() + at, 1, n);
    done += n;
  }
}

allocations::lack allocations::lacks(std::uint64_t address, unsigned bytes) {
  std::uint64_t begin = 0;
  const allocation* const a = containing(address, begin);
  if (a == nullptr || a->written_at_start) return lack::nothing;
  const std::uint64_t at = address - begin, end = std::min<std::uint64_t>(at + bytes, a->bytes);
  bool any = false, cut = false;
  for (std::uint64_t k = at; k < end; ++k) {
    any |= a->bits[k] != 0;
    cut |= a->bits[k] == 0 && !a->cuts.empty() && a->cuts.count(k / 4) != 0;
  }
  return !any ? lack::all : cut ? lack::some : lack::nothing;
}

bool allocations::known_written(std::uint64_t address, std::uint64_t bytes) {
  std::uint64_t begin = 0;
  allocation* const a = containing(address, begin);
  if (a == nullptr || address - begin + bytes > a->bytes) return false;
  const std::uint64_t end = address - begin + bytes;
  if (a->written_at_start || end <= a->written_to) return true;
  const void* const lacking = std::memchr(a->bits.get() + a->written_to, 0, a->bytes - a->written_to);
  a->written_to = lacking == nullptr
                      ? a->bytes
                      : static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(lacking) - a->bits.get());
  return end <= a->written_to;
}

bool allocations::all_written(std::uint64_t address, std::uint64_t bytes) {
  if (known_written(address, bytes)) return true;
  std::uint64_t begin = 0;
  const allocation* const a = containing(address, begin);
  if (a == nullptr || address - begin + bytes > a->bytes) return false;
  return std::memchr(a->bits.get() + (address - begin), 0, bytes) == nullptr;
}

std::string allocations::nearest(std::uint64_t address) const {
  return nearest_text(address, live_, freed_, [](const auto& block) {
    return std::pair<std::uint64_t, const std::string&>{block.second.bytes, block.second.name};
  });
}

}  // namespace heddle::sanitize

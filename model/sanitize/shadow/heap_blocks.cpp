// SPDX-License-Identifier: MIT
#include "heddle/sanitize/shadow/heap_blocks.h"

#include <algorithm>
#include <cstring>

#include "heddle/isa/set_bits.h"

namespace heddle::sanitize {

namespace {

using page_states = std::array<std::uint8_t, 4096>;

page_states filled_with(std::uint8_t state) {
  page_states all;
  all.fill(state);
  return all;
}

// By state.
const page_states uniform[4] = {filled_with(0), filled_with(1), filled_with(2), filled_with(3)};

bool is_uniform(const std::uint8_t* states) {
  return reinterpret_cast<std::uintptr_t>(states) - reinterpret_cast<std::uintptr_t>(uniform) < sizeof uniform;
}

struct vector_word {
  std::uint64_t low, high;
  explicit vector_word(std::uint64_t both = 0) : low(both), high(both) {}
  vector_word operator&(const vector_word& o) const {
    vector_word r;
    r.low = low & o.low;
    r.high = high & o.high;
    return r;
  }
  bool operator!=(const vector_word& o) const { return low != o.low || high != o.high; }
};

}  // namespace

void heap_blocks::clear() {
  regions_.clear();
  recent_.fill({});
  memory_.clear();
  live_.clear();
  freed_.clear();
  tracks_ = false;
}

void heap_blocks::find(std::uint64_t number, recent_region& r) {
  std::unique_ptr<region>& pages = regions_[number];
  if (!pages) {
    pages = std::make_unique<region>();
    pages->fill(uniform[outside].data());
  }
  r = {number, pages.get()};
}

// The states of a page for writing.
std::uint8_t* heap_blocks::own(const std::uint8_t*& states) {
  if (is_uniform(states)) {
    auto* const mine = memory_.take_array<std::uint8_t>(page_bytes);
    std::memcpy(mine, states, page_bytes);
    states = mine;
  }
  return const_cast<std::uint8_t*>(states);
}

void heap_blocks::set(std::uint64_t address, std::uint64_t bytes, std::uint8_t state) {
  for (const std::uint64_t end = address + bytes; address < end;) {
    const std::uint64_t at = address % page_bytes, n = std::min(end - address, page_bytes - at);
    const std::uint8_t*& states = page(address);
    if (n == page_bytes && is_uniform(states)) states = uniform[state].data();
    else std::memset(own(states) + at, state, n);
    address += n;
  }
}

void heap_blocks::add(std::uint64_t address, std::uint64_t bytes, bool has_values) {
  auto freed = freed_.extract(address);
  if (freed.empty()) {
    live_[address] = bytes;
  } else {
    freed.mapped() = bytes;
    live_.insert(std::move(freed));
  }
  set(address, bytes, has_values ? written : allocated);
  tracks_ = tracks_ || !has_values;
}

void heap_blocks::remove(std::uint64_t address) {
  auto block = live_.extract(address);
  if (block.empty()) return;
  set(address, block.mapped(), outside);
  freed_.erase(address);
  freed_.insert(std::move(block));
}

std::uint64_t heap_blocks::bytes_at(std::uint64_t address) const {
  const auto found = live_.find(address);
  return found == live_.end() ? 0 : found->second;
}

template <class Word>
bool heap_blocks::passes(const std::uint64_t* addresses, simt::lane_mask lanes, bool reads, bool writes) {
  constexpr std::uint64_t each = 0x0101010101010101;
  const Word in_block(static_cast<Word>(each * allocated)), has_values(static_cast<Word>(each * written));
  bool all = true;
  for (const unsigned lane : set_bits(lanes)) {
    const std::uint64_t at = addresses[lane] % page_bytes;
    const std::uint8_t*& states = page(addresses[lane]);
    Word now;
    std::memcpy(&now, states + at, sizeof now);
    if (!(now != has_values)) continue;
    const bool legal = !((now & in_block) != in_block);
    all = all && legal && !reads;
    if (legal && writes && !reads) std::memcpy(own(states) + at, &has_values, sizeof now);
  }
  return all;
}

bool heap_blocks::passes(const std::uint64_t* addresses, simt::lane_mask lanes, unsigned bytes, bool reads,
                         bool writes) {
  switch (bytes) {
    case 1: return passes<std::uint8_t>(addresses, lanes, reads, writes);
    case 2: return passes<std::uint16_t>(addresses, lanes, reads, writes);
    case 4: return passes<std::uint32_t>(addresses, lanes, reads, writes);
    case 8: return passes<std::uint64_t>(addresses, lanes, reads, writes);
    case 16: return passes<vector_word>(addresses, lanes, reads, writes);
    default: return false;
  }
}

// Calls f(states, bytes) for the parts of a range in pages, until it returns false. Returns whether none did.
template <class F>
bool heap_blocks::each_part(std::uint64_t address, std::uint64_t bytes, F&& f) {
  for (const std::uint64_t end = address + bytes; address < end;) {
    const std::uint64_t at = address % page_bytes, n = std::min(end - address, page_bytes - at);
    if (!f(page(address) + at, n)) return false;
    address += n;
  }
  return true;
}

bool heap_blocks::all_allocated(std::uint64_t address, std::uint64_t bytes) {
  return each_part(address, bytes, [](const std::uint8_t* states, std::uint64_t n) {
    return std::memchr(states, outside, n) == nullptr;
  });
}

bool heap_blocks::all_written(std::uint64_t address, std::uint64_t bytes) {
  return each_part(address, bytes, [](const std::uint8_t* states, std::uint64_t n) {
    return std::all_of(states, states + n, [](std::uint8_t s) { return s == written; });
  });
}

bool heap_blocks::any_written(std::uint64_t address, std::uint64_t bytes) {
  return !each_part(address, bytes, [](const std::uint8_t* states, std::uint64_t n) {
    return std::memchr(states, written, n) == nullptr;
  });
}

void heap_blocks::write(std::uint64_t address, std::uint64_t bytes) {
  for (const std::uint64_t end = address + bytes; address < end; ++address) {
    const std::uint8_t*& states = page(address);
    if (states[address % page_bytes] == allocated) own(states)[address % page_bytes] = written;
  }
}

}  // namespace heddle::sanitize

// SPDX-License-Identifier: MIT
#include "heddle/memory/l2/line_store.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heddle/config/error.h"

namespace heddle {

line_store::line_store(unsigned sets, unsigned ways, replacement policy)
    : sets_(sets),
      ways_(ways),
      policy_(std::move(policy)),
      set_mask_((sets & (sets - 1)) == 0 ? sets - 1 : 0),
      number_of_set_(sets, none),
      mark_groups_((ways + mark_ways - 1) / mark_ways) {}

std::uint64_t line_store::empty_all() {
  const auto lines = static_cast<std::uint64_t>(tags_.size() - std::count(tags_.begin(), tags_.end(), empty));
  std::fill(number_of_set_.begin(), number_of_set_.end(), none);
  sets_in_use_ = 0;
  tags_.clear();
  marks_.clear();
  order_.clear();
  states_.clear();
  evictions_.clear();
  groups_.clear();
  groups_taken_ = 0;
  return lines;
}

void line_store::use_set(std::uint32_t set) {
  number_of_set_[set] = sets_in_use_++;
  if (std::size_t{sets_in_use_} * ways_ > tags_.size()) add_storage(std::min(sets_in_use_ + 7, sets_));
}

// Up to `sets` sets.
void line_store::add_storage(std::uint32_t sets) {
  const std::size_t lines = std::size_t{sets} * ways_;
  tags_.resize(lines, empty);
  marks_.resize(std::size_t{sets} * mark_groups_);
  states_.resize(lines);
  groups_.resize((lines + group_lines - 1) / group_lines);
  if (!evictions_.empty()) evictions_.resize(lines, isa::eviction::normal);
  for (std::size_t first = order_.size(); first < lines; first += ways_) {
    order_.resize(first + ways_);
    std::iota(order_.end() - ways_, order_.end(), std::uint16_t{0});
  }
}

std::uint32_t line_store::victim(std::uint64_t line) {
  const std::uint32_t set = set_of(line);
  if (__builtin_expect(number_of_set_[set] == none, 0)) use_set(set);
  const std::uint32_t base = number_of_set_[set] * ways_;
  if (__builtin_expect(!evictions_.empty(), 0)) return victim_by_eviction(base);
  if (!policy_.in_order()) {
    const unsigned way = policy_.choose(
        ways_, [&](unsigned w) { return tags_[base + w] == empty; },
        [&](unsigned w) { return states_[base + w].mshr == none; });
    return way == ways_ ? none : base + way;
  }
  for (unsigned k = 0; k < ways_; ++k)
    if (const std::uint32_t slot = base + order_[base + k]; states_[slot].mshr == none) return slot;
  return none;
}

// An empty slot, else the policy's choice among the lines to be replaced first, else among the others.
std::uint32_t line_store::victim_by_eviction(std::uint32_t base) {
  using isa::eviction;
  for (unsigned w = 0; w < ways_; ++w)
    if (tags_[base + w] == empty && states_[base + w].mshr == none) return base + w;
  for (const eviction e : {eviction::first, eviction::normal, eviction::last}) {
    const auto open = [&](std::uint32_t slot) { return states_[slot].mshr == none && evictions_[slot] == e; };
    if (policy_.in_order()) {
      for (unsigned k = 0; k < ways_; ++k)
        if (open(base + order_[base + k])) return base + order_[base + k];
      continue;
    }
    const unsigned way = policy_.choose(
        ways_, [](unsigned) { return false; }, [&](unsigned w) { return open(base + w); });
    if (way != ways_) return base + way;
  }
  return none;
}

void line_store::set_eviction(std::uint32_t slot, isa::eviction e) {
  using isa::eviction;
  if (e == eviction::unchanged || (e == eviction::normal && evictions_.empty())) return;
  if (evictions_.empty()) evictions_.resize(slots(), eviction::normal);
  evictions_[slot] = e;
}

std::uint8_t* line_store::take_group() {
  constexpr std::size_t bytes = std::size_t{group_lines} * line_bytes;
  if (groups_taken_ == blocks_.size() * block_groups) blocks_.emplace_back(new std::uint8_t[block_groups * bytes]);
  const std::size_t number = groups_taken_++;
  return blocks_[number / block_groups].get() + number % block_groups * bytes;
}

void line_store::install(std::uint32_t slot, std::uint64_t line) {
  if (std::uint8_t*& bytes = groups_[slot / group_lines]; bytes == nullptr) bytes = take_group();
  tags_[slot] = line;
  states_[slot] = state{};
  if (!evictions_.empty()) evictions_[slot] = isa::eviction::normal;
  set_mark(slot);
  renew(slot);
}

void line_store::set_mark(std::uint32_t slot) {
  const unsigned way = slot % ways_;
  marks_[slot / ways_ * mark_groups_ + way / mark_ways][way % mark_ways] = mark_of(tags_[slot]);
}

// Makes the slot the last of its set in the replacement order.
void line_store::renew(std::uint32_t slot) {
  const auto way = static_cast<std::uint16_t>(slot % ways_);
  std::uint16_t* const first = order_.data() + (slot - way);
  std::uint16_t* const last = first + ways_ - 1;
  if (*last == way) return;
  std::uint16_t* at = first;
  while (*at != way) ++at;
  std::memmove(at, at + 1, static_cast<std::size_t>(last - at) * sizeof *at);
  *last = way;
}

void line_store::exchange(state_image& image) {
  image.same(sets_, "sets of an L2 slice");
  image.same(ways_, "ways of an L2 slice");
  if (image.reading()) empty_all();
  image(policy_);
  image.each(number_of_set_);
  image(sets_in_use_);
  auto with_storage = static_cast<std::uint32_t>(tags_.size() / ways_);
  image(with_storage);
  if (image.reading()) add_storage(with_storage);
  image.each(order_);
  bool has_evictions = !evictions_.empty();
  image(has_evictions);
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    bool here = occupied(slot);
    image(here);
    if (here && has_evictions) {
      isa::eviction e = image.reading() ? isa::eviction::normal : evictions_[slot];
      image(e);
      if (image.reading()) set_eviction(slot, e);
    }
    if (here) exchange_line(image, slot);
  }
}

// Of its bytes, only those that are valid have a value.
void line_store::exchange_line(state_image& image, std::uint32_t slot) {
  state& s = states_[slot];
  if (image.reading() && groups_[slot / group_lines] == nullptr) groups_[slot / group_lines] = take_group();
  image(tags_[slot], s.valid, s.dirty, s.mshr, s.launch);
  if (image.reading()) set_mark(slot);
  for (unsigned first = 0; first < line_bytes;) {
    unsigned end = first;
    while (end < line_bytes && s.valid.test(end)) ++end;
    image.raw(data(slot) + first, end - first);
    first = std::max(end, first + 1);
  }
}

}  // namespace heddle

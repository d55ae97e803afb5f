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
      tags_(std::size_t{sets} * ways, empty),
      groups_((ways + group_ways - 1) / group_ways),
      marks_(std::size_t{sets} * groups_),
      order_(std::size_t{sets} * ways),
      states_(std::size_t{sets} * ways),
      bytes_(untouched_bytes(std::size_t{sets} * ways * line_bytes)) {
  for (unsigned s = 0; s < sets; ++s)
    std::iota(order_.begin() + s * ways, order_.begin() + (s + 1) * ways, std::uint16_t{0});
}

std::uint64_t line_store::empty_all() {
  const auto lines = static_cast<std::uint64_t>(tags_.size() - std::count(tags_.begin(), tags_.end(), empty));
  std::fill(tags_.begin(), tags_.end(), empty);
  std::fill(marks_.begin(), marks_.end(), mark_group{});
  std::fill(states_.begin(), states_.end(), state{});
  evictions_ = nullptr;
  for (unsigned s = 0; s < sets_; ++s)
    std::iota(order_.begin() + s * ways_, order_.begin() + (s + 1) * ways_, std::uint16_t{0});
  return lines;
}

std::uint32_t line_store::victim(std::uint64_t line) {
  const std::uint32_t base = set_of(line) * ways_;
  if (__builtin_expect(evictions_ != nullptr, 0)) return victim_by_eviction(base);
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
  if (e == eviction::unchanged || (e == eviction::normal && evictions_ == nullptr)) return;
  if (evictions_ == nullptr) {
    evictions_ = std::make_unique<eviction[]>(slots());
    std::fill_n(evictions_.get(), slots(), eviction::normal);
  }
  evictions_[slot] = e;
}

void line_store::install(std::uint32_t slot, std::uint64_t line) {
  tags_[slot] = line;
  states_[slot] = state{};
  if (evictions_ != nullptr) evictions_[slot] = isa::eviction::normal;
  set_mark(slot);
  renew(slot);
}

void line_store::set_mark(std::uint32_t slot) {
  const unsigned way = slot % ways_;
  marks_[slot / ways_ * groups_ + way / group_ways][way % group_ways] = mark_of(tags_[slot]);
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
  image.each(order_);
  bool has_evictions = evictions_ != nullptr;
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

// SPDX-License-Identifier: MIT
#include "heddle/memory/l1/l1_tags.h"

#include <algorithm>
#include <utility>

#include "heddle/config/error.h"

namespace heddle {

l1_tags::l1_tags(unsigned size_bytes, unsigned ways, replacement policy) : policy_(std::move(policy)) {
  shape(size_bytes, ways);
}

void l1_tags::resize(unsigned size_bytes, unsigned ways, replacement policy) {
  policy_ = std::move(policy);
  shape(size_bytes, ways);
}

void l1_tags::shape(unsigned size_bytes, unsigned ways) {
  const unsigned lines = size_bytes / line_bytes;
  sets_ = std::max(1u, lines / std::max(1u, ways));
  ways_ = lines / sets_;
  set_mask_ = (sets_ & (sets_ - 1)) == 0 ? sets_ - 1 : 0;
  empty_all();
  set_states_.resize(sets_);
  lines_of_sets_.resize(policy_.in_order() ? 0 : std::size_t{sets_} * ways_);
}

void l1_tags::empty_all() {
  if (lines_.empty()) return;
  std::fill(set_states_.begin(), set_states_.end(), set_state{});
  std::fill(buckets_.begin(), buckets_.end(), none);
  lines_.clear();
  bytes_.clear();
}

// The line is empty, and the last in the replacement order.
std::uint32_t l1_tags::add_line(std::uint32_t set) {
  set_state& s = set_states_[set];
  const auto index = static_cast<std::uint32_t>(lines_.size());
  lines_.push_back({empty, none, set, s.last, none, none, 0, 0});
  constexpr std::size_t lines_at_once = 16;
  if (lines_.size() * line_bytes > bytes_.size()) bytes_.resize(bytes_.size() + lines_at_once * line_bytes);
  (s.last == none ? s.first : lines_[s.last].behind) = index;
  s.last = index;
  if (!policy_.in_order()) lines_of_sets_[std::size_t{set} * ways_ + s.used] = index;
  ++s.used;
  if (lines_.size() > buckets_.size()) add_buckets();
  return index;
}

void l1_tags::add_buckets() {
  buckets_.assign(2 * buckets_.size(), none);
  --bucket_shift_;
  for (std::uint32_t k = 0; k < lines_.size(); ++k)
    if (lines_[k].number != empty) enter(k, lines_[k].number);
}

void l1_tags::enter(std::uint32_t index, std::uint64_t number) {
  std::uint32_t& bucket = buckets_[bucket_of(number)];
  lines_[index].number = number;
  lines_[index].next_alike = bucket;
  bucket = index;
}

void l1_tags::leave(std::uint32_t index) {
  if (lines_[index].number == empty) return;
  std::uint32_t* at = &buckets_[bucket_of(lines_[index].number)];
  while (*at != index) at = &lines_[*at].next_alike;
  *at = lines_[index].next_alike;
  lines_[index].number = empty;
}

void l1_tags::move_to_end(std::uint32_t index) {
  line_state& l = lines_[index];
  set_state& s = set_states_[l.set];
  if (l.before == none) s.first = l.behind;
  else lines_[l.before].behind = l.behind;
  lines_[l.behind].before = l.before;
  l.before = s.last;
  l.behind = none;
  lines_[l.before].behind = index;
  s.last = index;
}

// Lines that were not used yet come first.
std::uint32_t l1_tags::victim_in(std::uint32_t set) {
  const set_state& s = set_states_[set];
  if (!policy_.in_order()) {
    const std::uint32_t* const lines = lines_of_sets_.data() + std::size_t{set} * ways_;
    const unsigned way = policy_.choose(
        ways_, [&](unsigned w) { return w >= s.used || lines_[lines[w]].number == empty; },
        [&](unsigned w) { return w >= s.used || lines_[lines[w]].mshr == none; });
    if (way == ways_) return none;
    return way == s.used ? add_line(set) : lines[way];
  }
  if (s.used != ways_) return add_line(set);
  std::uint32_t victim = s.first;
  while (victim != none && lines_[victim].mshr != none) victim = lines_[victim].behind;
  return victim;
}

std::uint32_t l1_tags::allocate(std::uint64_t address, bool& evicted) {
  evicted = false;
  if (ways_ == 0) return none;
  const std::uint64_t number = address / line_bytes;
  const std::uint32_t victim = victim_in(set_of(number));
  if (victim == none) return none;
  evicted = lines_[victim].valid != 0;
  leave(victim);
  enter(victim, number);
  lines_[victim].valid = 0;
  lines_[victim].stored = 0;
  renew(victim);
  return victim;
}

void l1_tags::invalidate(bool pending) {
  const auto waits = [](const line_state& l) { return l.mshr != none; };
  if (!pending || std::none_of(lines_.begin(), lines_.end(), waits)) return empty_all();
  for (std::uint32_t set = 0; set < sets_; ++set) invalidate_set(set);
}

// Lines that wait for a fill become the last in the replacement order.
void l1_tags::invalidate_set(std::uint32_t set) {
  std::uint32_t next = set_states_[set].first;
  for (std::uint32_t left = set_states_[set].used; left != 0; --left) {
    const std::uint32_t index = std::exchange(next, lines_[next].behind);
    lines_[index].valid = 0;
    lines_[index].stored = 0;
    if (lines_[index].mshr == none) leave(index);
    else renew(index);
  }
}

void l1_tags::exchange(state_image& image) {
  image.same(sets_, "sets of an L1");
  image.same(ways_, "ways of an L1");
  image(policy_);
  auto count = static_cast<std::uint32_t>(lines_.size());
  image(count);
  if (image.reading()) {
    empty_all();
    lines_.resize(count, {empty, none, 0, none, none, none, 0, 0});
    bytes_.resize(std::size_t{count} * line_bytes);
    while (buckets_.size() < count) add_buckets();
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    line_state& l = lines_[k];
    std::uint64_t number = l.number;
    image(number, l.set, l.valid, l.stored, l.mshr, l.before, l.behind);
    if (image.reading()) {
      l.number = empty;
      if (number != empty) enter(k, number);
    }
    for (unsigned s = 0; s < sectors_per_line; ++s)
      if (l.valid >> s & 1) image.raw(data(k) + s * sector_bytes, sector_bytes);
  }
  for (set_state& s : set_states_) image(s.used, s.first, s.last);
  image.each(lines_of_sets_);
}

}  // namespace heddle

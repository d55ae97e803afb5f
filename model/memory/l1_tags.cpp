// SPDX-License-Identifier: MIT
#include "memory/l1_tags.h"

#include <algorithm>

namespace heddle {

l1_tags::l1_tags(unsigned size_bytes, unsigned ways, const replacement& policy) : policy_(policy) {
  const unsigned lines = size_bytes / line_bytes;
  sets_ = std::max(1u, lines / std::max(1u, ways));
  ways_ = lines / sets_;
  set_mask_ = (sets_ & (sets_ - 1)) == 0 ? sets_ - 1 : 0;
  const std::size_t count = std::size_t{sets_} * ways_;
  tags_.assign(count, empty);
  lines_.resize(count);
  data_.assign(count * line_bytes, 0);
  while (hints_per_set_ < 4 * ways_) hints_per_set_ *= 2;
  hints_.assign(std::size_t{sets_} * hints_per_set_, {});
}

unsigned l1_tags::find(std::uint64_t address) const {
  if (ways_ == 0) return none;
  const std::uint64_t number = address / line_bytes;
  const unsigned set = set_of(number);
  const hint& h = hints_[hint_at(set, number)];
  if (h.count == 0) return none;
  const std::uint64_t* const tags = tags_.data() + std::size_t{set} * ways_;
  if (tags[h.way] == number) return set * ways_ + h.way;
  for (unsigned w = 0; w < ways_; ++w)
    if (tags[w] == number) return set * ways_ + w;
  return none;
}

unsigned l1_tags::allocate(std::uint64_t address, bool& evicted) {
  evicted = false;
  const std::uint64_t number = address / line_bytes;
  const unsigned set = set_of(number);
  const line_state* const lines = &lines_[std::size_t{set} * ways_];
  const unsigned way = policy_.choose(
      ways_, [&](unsigned w) { return lines[w].used; }, [&](unsigned w) { return lines[w].mshr == none; });
  if (way == ways_) return none;
  const unsigned victim = set * ways_ + way;
  evicted = lines_[victim].valid != 0;
  if (tags_[victim] != empty) --hints_[hint_at(set, tags_[victim])].count;
  tags_[victim] = number;
  lines_[victim] = {};
  hint& h = hints_[hint_at(set, number)];
  ++h.count;
  h.way = way;
  lines_[victim].used = ++clock_;
  return victim;
}

void l1_tags::invalidate() {
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    lines_[k].valid = 0;
    if (lines_[k].mshr != none) continue;
    if (tags_[k] != empty) --hints_[hint_at(static_cast<unsigned>(k / ways_), tags_[k])].count;
    tags_[k] = empty;
    lines_[k].used = 0;
  }
}

}  // namespace heddle

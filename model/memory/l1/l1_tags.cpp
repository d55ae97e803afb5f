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
  hints_per_set_ = 1;
  while (hints_per_set_ < 4 * ways_) hints_per_set_ *= 2;
  const std::size_t count = std::size_t{sets_} * ways_;
  const std::size_t hints = std::size_t{sets_} * hints_per_set_;
  if (count > lines_allocated_) {
    tags_.reset(new std::uint64_t[count]);
    lines_.reset(new line_state[count]);
    data_.reset(new std::uint8_t[count * line_bytes]);
    lines_allocated_ = count;
  }
  if (hints > hints_allocated_) {
    hints_.reset(new hint[hints]);
    hints_allocated_ = hints;
  }
  ends_.resize(sets_);
  empty_all();
}

void l1_tags::empty_all() {
  if (++generation_ == 0) {
    generation_of_set_.clear();
    generation_ = 1;
  }
  generation_of_set_.resize(sets_);  // new ones are of era 0, which no set is filled in
}

void l1_tags::make_empty(unsigned set) {
  generation_of_set_[set] = generation_;
  const unsigned first = set * ways_;
  for (unsigned k = first; k < first + ways_; ++k) {
    tags_[k] = empty;
    lines_[k] = {0, 0, none, k - 1, k + 1};
  }
  lines_[first].before = none;
  lines_[first + ways_ - 1].behind = none;
  ends_[set] = {first, first + ways_ - 1};
  std::fill_n(hints_.get() + std::size_t{set} * hints_per_set_, hints_per_set_, hint{0, 0});
}

void l1_tags::order(unsigned set, const std::vector<std::uint32_t>& indices) {
  if (indices.empty()) return;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    lines_[indices[k]].before = k == 0 ? none : indices[k - 1];
    lines_[indices[k]].behind = k + 1 == indices.size() ? none : indices[k + 1];
  }
  ends_[set] = {indices.front(), indices.back()};
}

void l1_tags::move_to_end(unsigned index) {
  const unsigned set = index / ways_;
  line_state& l = lines_[index];
  if (l.before == none) ends_[set].first = l.behind;
  else lines_[l.before].behind = l.behind;
  lines_[l.behind].before = l.before;
  l.before = ends_[set].last;
  l.behind = none;
  lines_[l.before].behind = index;
  ends_[set].last = index;
}

unsigned l1_tags::find(std::uint64_t address) const {
  if (ways_ == 0) return none;
  const std::uint64_t number = address / line_bytes;
  const unsigned set = set_of(number);
  if (generation_of_set_[set] != generation_) return none;
  const hint& h = hints_[hint_at(set, number)];
  if (h.count == 0) return none;
  const std::uint64_t* const tags = tags_.get() + std::size_t{set} * ways_;
  if (tags[h.way] == number) return set * ways_ + h.way;
  for (unsigned w = 0; w < ways_; ++w)
    if (tags[w] == number) return set * ways_ + w;
  return none;
}

unsigned l1_tags::allocate(std::uint64_t address, bool& evicted) {
  evicted = false;
  if (ways_ == 0) return none;
  const std::uint64_t number = address / line_bytes;
  const unsigned set = set_of(number);
  if (generation_of_set_[set] != generation_) make_empty(set);
  unsigned victim = none;
  if (!policy_.in_order()) {
    const unsigned first = set * ways_;
    const unsigned way = policy_.choose(
        ways_, [&](unsigned w) { return tags_[first + w] == empty; },
        [&](unsigned w) { return lines_[first + w].mshr == none; });
    if (way != ways_) victim = first + way;
  } else {
    for (victim = ends_[set].first; victim != none && lines_[victim].mshr != none;) victim = lines_[victim].behind;
  }
  if (victim == none) return none;
  evicted = lines_[victim].valid != 0;
  if (tags_[victim] != empty) --hints_[hint_at(set, tags_[victim])].count;
  tags_[victim] = number;
  lines_[victim].valid = 0;
  lines_[victim].stored = 0;
  hint& h = hints_[hint_at(set, number)];
  ++h.count;
  h.way = victim - set * ways_;
  renew(victim);
  return victim;
}

void l1_tags::invalidate(bool pending) {
  if (!pending) return empty_all();
  for (unsigned set = 0; set < sets_; ++set)
    if (generation_of_set_[set] == generation_) invalidate_set(set);
}

void l1_tags::invalidate_set(unsigned set) {
  std::vector<std::uint32_t> waiting;
  for (unsigned k = ends_[set].first; k != none; k = lines_[k].behind)
    if (lines_[k].mshr != none) waiting.push_back(k);
  // Invalid lines are replaced first, in the order of their index.
  std::vector<std::uint32_t> indices;
  for (unsigned k = set * ways_; k < (set + 1) * ways_; ++k) {
    lines_[k].valid = 0;
    lines_[k].stored = 0;
    if (lines_[k].mshr != none) continue;
    if (tags_[k] != empty) --hints_[hint_at(set, tags_[k])].count;
    tags_[k] = empty;
    indices.push_back(k);
  }
  indices.insert(indices.end(), waiting.begin(), waiting.end());
  order(set, indices);
}

void l1_tags::exchange(state_image& image) {
  image.same(sets_, "sets of an L1");
  image.same(ways_, "ways of an L1");
  image(policy_);
  if (image.reading()) empty_all();
  for (unsigned set = 0; set < sets_ && ways_ != 0; ++set) {
    bool filled = generation_of_set_[set] == generation_;
    image(filled);
    if (!filled) continue;
    if (image.reading()) make_empty(set);
    exchange_set(image, set);
  }
}

void l1_tags::exchange_set(state_image& image, unsigned set) {
  for (unsigned k = set * ways_; k < (set + 1) * ways_; ++k) {
    line_state& l = lines_[k];
    image(tags_[k], l.valid, l.stored, l.mshr, l.before, l.behind);
    for (unsigned s = 0; s < sectors_per_line; ++s)
      if (l.valid >> s & 1) image.raw(data(k) + s * sector_bytes, sector_bytes);
    if (!image.reading() || tags_[k] == empty) continue;
    hint& h = hints_[hint_at(set, tags_[k])];
    ++h.count;
    h.way = k - set * ways_;
  }
  image(ends_[set].first, ends_[set].last);
}

}  // namespace heddle

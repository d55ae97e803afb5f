// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

template <class T>
class launch_index;

/// One T (a struct of counters) per launch that a unit has worked for. References stay valid.
template <class T>
class per_launch {
 public:
  /// From now on, before any launch, `index` finds these counters, too.
  void join(launch_index<T>& index) { index_ = &index; }
  /// Null if there is none.
  [[nodiscard]] const launch_index<T>* index() const { return index_; }
  /// The counters of a launch, by launch_context::launch_id; created with zeros on first use.
  T& operator[](std::uint32_t launch) {
    return __builtin_expect(launch == last_id_ && last_ != nullptr, 1) ? *last_ : find_or_make(launch);
  }
  /// The counters of a launch, or null if the unit never worked for it.
  [[nodiscard]] const T* find(std::uint32_t launch) const {
    const item* const i = item_of(launch);
    return i != nullptr ? &i->counters : nullptr;
  }
  /// The counters of a launch, or zeros.
  [[nodiscard]] const T& at(std::uint32_t launch) const {
    static const T none{};
    const T* t = find(launch);
    return t != nullptr ? *t : none;
  }
  /// One more than the largest launch id seen: the bound of a loop over find().
  [[nodiscard]] std::uint32_t end() const { return end_; }
  /// exchange_one(launch, counters) for each launch that the unit has worked for.
  template <class F>
  void exchange(state_image& image, F&& exchange_one) {
    std::uint32_t count = 0;
    for (std::uint32_t launch = 0; launch < end_; ++launch) count += item_of(launch) != nullptr;
    image(count);
    for (std::uint32_t launch = 0; count != 0; ++launch) {
      if (!image.reading() && item_of(launch) == nullptr) continue;
      image(launch);
      exchange_one(launch, find_or_make(launch));
      --count;
    }
  }
  void exchange(state_image& image) {
    exchange(image, [&image](std::uint32_t, T& counters) { image(counters); });
  }

 private:
  friend class launch_index<T>;
  struct item {
    T counters{};
    const item* next = nullptr;  // of the same launch, of another unit in the index
  };
  // Of launches that follow each other: a small launch reaches few of a chip's units.
  static constexpr std::uint32_t page_launches = 8;
  using page = std::array<std::unique_ptr<item>, page_launches>;
  [[nodiscard]] const item* item_of(std::uint32_t launch) const {
    const std::size_t at = launch / page_launches;
    return at < pages_.size() && pages_[at] != nullptr ? (*pages_[at])[launch % page_launches].get() : nullptr;
  }
  [[gnu::noinline]] T& find_or_make(std::uint32_t launch) {
    const std::size_t at = launch / page_launches;
    if (at >= pages_.size()) pages_.resize(at + 1);
    if (pages_[at] == nullptr) pages_[at] = std::make_unique<page>();
    std::unique_ptr<item>& found = (*pages_[at])[launch % page_launches];
    if (found == nullptr) {
      found = std::make_unique<item>();
      if (index_ != nullptr) index_->add(launch, *found);
      end_ = std::max(end_, launch + 1);
    }
    last_id_ = launch;
    last_ = &found->counters;
    return *last_;
  }

  std::vector<std::unique_ptr<page>> pages_;  // null: the unit has worked for none of its launches
  std::uint32_t end_ = 0;
  launch_index<T>* index_ = nullptr;
  std::uint32_t last_id_ = 0;
  T* last_ = nullptr;
};

/// The counters of units of one kind, which one thread simulates: those of a launch are found without asking each unit,
/// of which a small launch reaches few.
template <class T>
class launch_index {
 public:
  /// visit(counters) for each unit that has worked for the launch, in no order.
  template <class F>
  void visit(std::uint32_t launch, F&& visit) const {
    if (launch >= last_.size()) return;
    for (const item* i = last_[launch]; i != nullptr; i = i->next) visit(i->counters);
  }

 private:
  friend class per_launch<T>;
  using item = typename per_launch<T>::item;
  void add(std::uint32_t launch, item& of_unit) {
    if (launch >= last_.size()) last_.resize(std::size_t{launch} + 1);
    of_unit.next = last_[launch];
    last_[launch] = &of_unit;
  }

  std::vector<const item*> last_;  // by launch, null: no unit has worked for it
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>

namespace heddle {

/// Counters by launch number: grows on demand, references stay valid, launches never seen read as T{}.
template <class T>
class per_launch {
 public:
  T& operator[](std::size_t launch) {
    while (items_.size() <= launch) items_.emplace_back();
    return items_[launch];
  }
  const T& at(std::size_t launch) const {
    static const T none{};
    return launch < items_.size() ? items_[launch] : none;
  }
  std::size_t size() const { return items_.size(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::deque<T> items_;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace heddle {

/// A queue in a ring buffer of power-of-two size. It doubles when full and never shrinks.
template <class T>
class ring {
 public:
  explicit ring(std::size_t reserve = 8) {
    std::size_t size = 8;
    while (size < reserve) size *= 2;
    items_.resize(size);
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  T& front() { return items_[head_]; }
  [[nodiscard]] const T& front() const { return items_[head_]; }
  /// Element i, counted from the front.
  T& operator[](std::size_t i) { return items_[(head_ + i) & (items_.size() - 1)]; }
  const T& operator[](std::size_t i) const { return items_[(head_ + i) & (items_.size() - 1)]; }
  void push(T item) {
    if (count_ == items_.size()) grow();
    items_[(head_ + count_++) & (items_.size() - 1)] = std::move(item);
  }
  void pop() {
    head_ = (head_ + 1) & (items_.size() - 1);
    --count_;
  }

 private:
  void grow() {
    std::vector<T> bigger(items_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) bigger[i] = std::move((*this)[i]);
    items_.swap(bigger);
    head_ = 0;
  }
  std::vector<T> items_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace heddle

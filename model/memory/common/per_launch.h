// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace heddle {

/// One T (a struct of counters) per launch that a unit has worked for. References stay valid.
template <class T>
class per_launch {
 public:
  /// The counters of a launch, by launch_context::launch_id; created with zeros on first use.
  T& operator[](std::uint32_t launch) {
    return __builtin_expect(launch == last_id_ && last_ != nullptr, 1) ? *last_ : find_or_make(launch);
  }
  /// The counters of a launch, or null if the unit never worked for it.
  [[nodiscard]] const T* find(std::uint32_t launch) const {
    return launch < items_.size() ? items_[launch].get() : nullptr;
  }
  /// The counters of a launch, or zeros.
  [[nodiscard]] const T& at(std::uint32_t launch) const {
    static const T none{};
    const T* t = find(launch);
    return t != nullptr ? *t : none;
  }
  /// One more than the largest launch id seen: the bound of a loop over find().
  [[nodiscard]] std::uint32_t end() const { return static_cast<std::uint32_t>(items_.size()); }

 private:
  [[gnu::noinline]] T& find_or_make(std::uint32_t launch) {
    if (launch >= items_.size()) items_.resize(std::size_t{launch} + 1);
    if (items_[launch] == nullptr) items_[launch] = std::make_unique<T>();
    last_id_ = launch;
    last_ = items_[launch].get();
    return *last_;
  }

  std::vector<std::unique_ptr<T>> items_;
  std::uint32_t last_id_ = 0;
  T* last_ = nullptr;
};

}  // namespace heddle

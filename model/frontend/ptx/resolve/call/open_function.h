// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace heddle::ptx {

/// The function whose body is being translated: how many calls it is deep, and where its return leads.
class open_function {
 public:
  struct view {
    std::size_t depth = 1;           // 1: the kernel
    std::uint32_t return_label = 0;  // of a function
  };

  [[nodiscard]] bool is_kernel() const { return view_.depth == 1; }
  [[nodiscard]] std::size_t depth() const { return view_.depth; }
  [[nodiscard]] std::uint32_t return_label() const { return view_.return_label; }

  /// Opens a function that the current one calls. Returns the current one, for show().
  view enter(std::uint32_t return_label) { return std::exchange(view_, view{view_.depth + 1, return_label}); }
  void show(const view& v) { view_ = v; }

 private:
  view view_;
};

}  // namespace heddle::ptx

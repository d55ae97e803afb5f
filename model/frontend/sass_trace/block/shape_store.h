// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace heddle::sass_trace {

/// Address offsets relative to the first address, shared by many lines: most lines of an instruction differ only in
/// their first address. A block thus stores two words for such a line instead of half a word for each lane.
class shape_store {
 public:
  using number = std::uint32_t;
  static constexpr number none = ~number{0};
  using offset_list = std::array<std::uint64_t, 32>;

  /// The index of this shape: offsets from the first address by active lane, 0 after the last one. `none` when the
  /// store is full: a trace with so many shapes does not profit from sharing.
  number find_or_add(const offset_list& offsets);
  [[nodiscard]] const std::uint64_t* offsets(number n) const { return shapes_[n]->data(); }

 private:
  std::vector<const offset_list*> shapes_;
  std::map<offset_list, number> numbers_;
};

}  // namespace heddle::sass_trace

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace heddle::sass_trace {

/// How addresses go on from the first one, for lines that share it: most lines of an instruction differ in their first
/// address alone. So a block keeps two words for such a line, not half a one for each lane.
class shape_store {
 public:
  using number = std::uint32_t;
  static constexpr number none = ~number{0};
  using offset_list = std::array<std::uint64_t, 32>;

  /// The number of this shape: what is added to the first address, by active lane; 0 behind the last one. None when
  /// there is no more room: a trace of many shapes is one in which sharing does not pay.
  number find_or_add(const offset_list& offsets);
  const std::uint64_t* offsets(number n) const { return shapes_[n]->data(); }

 private:
  std::vector<const offset_list*> shapes_;
  std::map<offset_list, number> numbers_;
};

}  // namespace heddle::sass_trace

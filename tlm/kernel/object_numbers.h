// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle {

/// Numbers of objects of one type, by which a state image names them in place of pointers: 1, 2, 3 … in the order in
/// which they are added; 0: no object.
class object_numbers {
 public:
  /// `count` objects of `bytes` bytes each, one behind the other from `first` on.
  void add(void* first, std::size_t count, std::size_t bytes);
  /// The number of an object, 0 for null. Throws std::logic_error for one that was not added.
  [[nodiscard]] std::uint32_t of(const void* object);
  /// Sets `object` to the object with this number, null for 0. False: there is none.
  [[nodiscard]] bool find(std::uint32_t number, void*& object) const;

 private:
  struct range {
    std::uintptr_t first;
    std::size_t count;
    std::size_t bytes;     // of one
    std::uint32_t number;  // of the first
  };
  std::vector<range> by_number_;
  std::vector<range> by_address_;  // sorted, unless objects were added since
  std::uint32_t next_ = 1;
};

}  // namespace heddle

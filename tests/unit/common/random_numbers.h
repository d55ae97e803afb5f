// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/hash/splitmix64.h"

namespace heddle::test {

/// A sample is equal on every machine.
class random_numbers : public splitmix64 {
 public:
  using splitmix64::splitmix64;
  template <class T>
  const T& one_of(const std::vector<T>& from) {
    return from[below(from.size())];
  }
};

}  // namespace heddle::test

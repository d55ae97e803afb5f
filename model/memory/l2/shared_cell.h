// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

namespace heddle {

template <class Cell, class Result>
std::uint64_t change_shared(std::uint8_t* cell, Result&& result) {
  auto* const at = reinterpret_cast<Cell*>(cell);
  Cell old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &old, static_cast<Cell>(result(old)), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {}
  return old;
}

/// Gives a cell of `size` bytes the result of its old value, which is returned. The host may change it, too, if it is
/// `shared`.
template <class Result>
std::uint64_t change_cell(std::uint8_t* cell, unsigned size, bool shared, Result&& result) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(cell) % size == 0;
  if (shared && aligned) {
    if (size == 4) return change_shared<std::uint32_t>(cell, result);
    if (size == 8) return change_shared<std::uint64_t>(cell, result);
    if (size == 2) return change_shared<std::uint16_t>(cell, result);
  }
  std::uint64_t old = 0;
  std::memcpy(&old, cell, size);
  const std::uint64_t value = result(old);
  std::memcpy(cell, &value, size);
  return old;
}

}  // namespace heddle

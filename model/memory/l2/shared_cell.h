// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "heddle/simt/scalar/memory_access.h"

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

#if defined(__x86_64__)
__extension__ typedef unsigned __int128 sixteen_bytes;

/// Gives the cell `value` if it holds `expected`. Returns what it held. The cell is aligned to 16 bytes.
__attribute__((target("cx16"))) inline simt::wide_cell swap_shared(std::uint8_t* cell, simt::wide_cell expected,
                                                                   simt::wide_cell value) {
  const auto whole = [](simt::wide_cell c) { return c.low | static_cast<sixteen_bytes>(c.high) << 64; };
  const sixteen_bytes before =
      __sync_val_compare_and_swap(reinterpret_cast<sixteen_bytes*>(cell), whole(expected), whole(value));
  return {static_cast<std::uint64_t>(before), static_cast<std::uint64_t>(before >> 64)};
}
#endif

/// change_cell of 16 bytes. On a host other than an x86-64 the bytes are not changed as one for the host.
template <class Result>
simt::wide_cell change_wide_cell(std::uint8_t* cell, [[maybe_unused]] bool shared, Result&& result) {
  simt::wide_cell old;
  std::memcpy(&old, cell, sizeof old);
#if defined(__x86_64__)
  if (shared && reinterpret_cast<std::uintptr_t>(cell) % sizeof old == 0) {
    for (;;) {
      const simt::wide_cell before = swap_shared(cell, old, result(old));
      if (before == old) return old;
      old = before;
    }
  }
#endif
  const simt::wide_cell value = result(old);
  std::memcpy(cell, &value, sizeof value);
  return old;
}

}  // namespace heddle

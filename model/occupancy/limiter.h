// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

/// What limits the blocks of an SM: X(member of resource_limits, which is also the name in metrics; the parameter that
/// says how much an SM has).
#define HEDDLE_LIMITERS(X)                     \
  X(warps, "sm.max_warps")                     \
  X(blocks, "sm.max_blocks")                   \
  X(registers, "sm.registers")                 \
  X(shared_memory, "shared_memory.size_bytes") \
  X(barriers, "sm.barriers")

namespace heddle {

#define HEDDLE_LIMITER(name, key) name,
enum class limiter : std::uint8_t { HEDDLE_LIMITERS(HEDDLE_LIMITER) none };
#undef HEDDLE_LIMITER

struct limiter_row {
  limiter what;
  const char* name;
  const char* parameter;
};
#define HEDDLE_LIMITER(name, key) {limiter::name, #name, key},
constexpr limiter_row limiter_rows[] = {HEDDLE_LIMITERS(HEDDLE_LIMITER)};
#undef HEDDLE_LIMITER

/// The limiter of that name in metrics; none for any other text.
inline limiter limiter_named(const std::string& name) {
  for (const limiter_row& row : limiter_rows)
    if (name == row.name) return row.what;
  return limiter::none;
}

/// f(name, blocks that fit) for each of resource_limits.
template <class limits_type, class F>
void each_limit(const limits_type& limits, F&& f) {
#define HEDDLE_LIMITER(name, key) f(#name, limits.name);
  HEDDLE_LIMITERS(HEDDLE_LIMITER)
#undef HEDDLE_LIMITER
}

}  // namespace heddle

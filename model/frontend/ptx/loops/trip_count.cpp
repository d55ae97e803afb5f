// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/loops/trip_count.h"

#include <cstdlib>
#include <limits>

namespace heddle::ptx {

using isa::compare;

std::int64_t signed_value(std::uint64_t bits, unsigned words) {
  return words == 2 ? static_cast<std::int64_t>(bits) : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
}

compare mirrored(compare c) {
  switch (c) {
    case compare::lt: return compare::gt;
    case compare::gt: return compare::lt;
    case compare::le: return compare::ge;
    case compare::ge: return compare::le;
    default: return c;
  }
}

compare opposite(compare c) {
  switch (c) {
    case compare::lt: return compare::ge;
    case compare::ge: return compare::lt;
    case compare::gt: return compare::le;
    case compare::le: return compare::gt;
    case compare::eq: return compare::ne;
    case compare::ne: return compare::eq;
    default: return compare::f;
  }
}

std::uint64_t count_trips(const loop_plan& p) {
  if (!p.tested.starts_known || !p.bound.is_immediate()) return 0;
  const unsigned words = counter_words(p.type);
  const bool has_sign = isa::is_signed(p.type);
  const auto number = [&](std::uint64_t bits) {
    if (has_sign) return signed_value(bits, words);
    return static_cast<std::int64_t>(words == 2 ? bits : bits & 0xffffffffu);
  };
  constexpr std::int64_t far = std::int64_t{1} << 62;
  const std::int64_t first = number(p.tested.start), bound = number(p.bound.bits), step = p.tested.step;
  if (first < -far || first > far || bound < -far || bound > far ||
      (words == 2 && !has_sign && (first < 0 || bound < 0)))
    return 0;
  const std::int64_t distance = bound - first, stride = std::abs(step),
                     signed_distance = step > 0 ? distance : -distance;
  std::int64_t trips = 0;
  switch (p.going_on) {
    case compare::ne:
      trips = signed_distance > 0 && signed_distance % stride == 0 ? signed_distance / stride : 0;
      break;
    case compare::lt:
    case compare::gt:
      if ((p.going_on == compare::lt) == (step > 0))
        trips = signed_distance <= stride ? 1 : (signed_distance + stride - 1) / stride;
      break;
    case compare::le:
    case compare::ge:
      if ((p.going_on == compare::le) == (step > 0))
        trips = signed_distance < stride ? 1 : signed_distance / stride + 1;
      break;
    default: break;
  }
  if (trips <= 0 || trips > std::numeric_limits<std::int32_t>::max()) return 0;
  // Nothing is known if the counter leaves its type's range before.
  const std::int64_t last = first + trips * step;
  const std::int64_t least = !has_sign ? 0 : words == 2 ? -far : std::numeric_limits<std::int32_t>::min();
  const std::int64_t most = words == 2 ? far : has_sign ? std::numeric_limits<std::int32_t>::max() : 0xffffffffll;
  if (last < least || last > most) return 0;
  return static_cast<std::uint64_t>(trips);
}

}  // namespace heddle::ptx

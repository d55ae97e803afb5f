// SPDX-License-Identifier: MIT
#include "warp_reference.h"

namespace heddle::conformance {

std::uint64_t match(const scalar_operation& op, std::uint32_t present, const lane_values& values, unsigned lane,
                    std::uint64_t& agree) {
  std::uint32_t same = 0;
  for (unsigned k = 0; k < 32; ++k)
    if ((present >> k & 1) && values[k] == values[lane]) same |= 1u << k;
  agree = same == present;
  return op.has("any") || agree ? same : 0;
}

std::uint64_t reduced(const scalar_operation& op, std::uint32_t present, const lane_values& values) {
  bool started = false;
  std::uint64_t r = 0;
  for (unsigned k = 0; k < 32; ++k) {
    if (!(present >> k & 1)) continue;
    const std::uint64_t v = values[k];
    const auto before = [&](std::uint64_t a, std::uint64_t b) {
      return isa::is_signed(op.type) ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
    };
    if (!started) r = v;
    else if (op.has("add")) r += v;
    else if (op.has("and")) r &= v;
    else if (op.has("or")) r |= v;
    else if (op.has("xor")) r ^= v;
    else if (before(v, r) == op.has("min")) r = v;
    started = true;
  }
  return r & 0xffffffffu;
}

std::uint64_t vote(const scalar_operation& op, std::uint32_t present, const lane_values& predicates) {
  std::uint32_t ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((present >> lane & 1) && predicates[lane] != 0) ballot |= 1u << lane;
  if (op.has("ballot")) return ballot;
  if (op.has("any")) return ballot != 0;
  if (op.has("all")) return ballot == present;
  return ballot == 0 || ballot == present;
}

}  // namespace heddle::conformance

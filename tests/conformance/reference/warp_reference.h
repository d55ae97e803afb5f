// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "scalar_operation.h"

namespace heddle::conformance {

using lane_values = std::array<std::uint64_t, 32>;

/// The results of vote, match and redux, from the operands of the threads in `present`. match is that of one thread,
/// and sets `agree` if all have the same value.
std::uint64_t vote(const scalar_operation& op, std::uint32_t present, const lane_values& predicates);
std::uint64_t match(const scalar_operation& op, std::uint32_t present, const lane_values& values, unsigned lane,
                    std::uint64_t& agree);
std::uint64_t reduced(const scalar_operation& op, std::uint32_t present, const lane_values& values);

}  // namespace heddle::conformance

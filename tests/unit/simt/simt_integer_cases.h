// SPDX-License-Identifier: MIT
// Operands of integer instructions, and their values.
#pragma once

#include "simt_fixture.h"

namespace heddle::simt {
namespace simt_integer_cases {

using isa::dtype;
using isa::opcode;

__extension__ typedef __int128 wide_int;
__extension__ typedef unsigned __int128 wide_unsigned;

inline std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
inline std::int64_t as_s(std::uint64_t v) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(v)); }
inline const std::vector<operands>& cases() {
  static const auto c = mixed_cases(integer_edges(), 3000, 7, 2000);
  return c;
}

}  // namespace simt_integer_cases
}  // namespace heddle::simt

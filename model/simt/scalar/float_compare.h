// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/isa/opcode.h"

namespace heddle::simt {

/// PTX's floating-point compares. If an operand is NaN, ordered compares are false and those with suffix u are true.
static inline bool compare_float(isa::compare c, double a, double b) {
  using isa::compare;
  const bool unordered = a != a || b != b;
  switch (c) {
    case compare::lt: return a < b;
    case compare::eq: return a == b;
    case compare::le: return a <= b;
    case compare::gt: return a > b;
    case compare::ne: return !unordered && a != b;
    case compare::ge: return a >= b;
    case compare::num: return !unordered;
    case compare::nan: return unordered;
    case compare::ltu: return unordered || a < b;
    case compare::equ: return unordered || a == b;
    case compare::leu: return unordered || a <= b;
    case compare::gtu: return unordered || a > b;
    case compare::neu: return unordered || a != b;
    case compare::geu: return unordered || a >= b;
    case compare::t: return true;
    default: return false;
  }
}

}  // namespace heddle::simt

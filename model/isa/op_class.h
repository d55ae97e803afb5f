// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "heddle/isa/opcode.h"

namespace heddle::isa {

struct op_class_info {
  op_class self;
  isa::unit unit;
  /// Cycles to a dependent instruction for which code is scheduled: about those of all chips. A load's is that of
  /// memory.
  unsigned schedule_latency;
  /// Class on whose unit a trace's instruction runs if the GPU lacks its own unit; fp32_add is never lacking.
  op_class stand_in;
};

// clang-format off
/// The timing classes in the order of the enumeration, one row each. A class without a complete row does not compile.
///
/// X(class, unit, schedule latency, stand-in)
#define HEDDLE_OP_CLASSES(X) \
  X(fp32_add,         fp32,      5, fp32_add)     \
  X(fp32_minmax,      fp32,      5, fp32_add)     \
  X(fp32_compare,     fp32,      5, fp32_add)     \
  X(int_add,          integer,   5, fp32_add)     \
  X(int_shift,        integer,   5, fp32_add)     \
  X(int_multiply,     integer,   5, fp32_add)     \
  X(int_minmax,       integer,   5, fp32_add)     \
  X(int_compare,      integer,   5, fp32_add)     \
  X(special_register, integer,  20, fp32_add)     \
  X(fp64_add,         fp64,     10, fp32_add)     \
  X(fp64_fma,         fp64,     10, fp32_add)     \
  X(fp64_compare,     fp64,      5, fp32_compare) \
  X(half_add,         half,      5, fp32_add)     \
  X(half_compare,     half,      5, fp32_compare) \
  X(sfu,              sfu,      14, fp32_add)     \
  X(bit_count,        sfu,      14, sfu)          \
  X(bit_scan,         sfu,      14, sfu)          \
  X(conversion,       sfu,      14, sfu)          \
  X(tensor,           tensor,   25, half_add)     \
  X(load_store,       ldst,    100, fp32_add)     \
  X(shuffle,          ldst,     24, fp32_add)     \
  X(vote,             integer,   5, fp32_add)     \
  X(texture,          texture, 100, fp32_add)     \
  X(branch,           branch,    5, fp32_add)
// clang-format on

constexpr op_class_info op_classes[] = {
#define HEDDLE_X(name, on, latency, other) {op_class::name, unit::on, latency, op_class::other},
    HEDDLE_OP_CLASSES(HEDDLE_X)
#undef HEDDLE_X
};

constexpr const op_class_info& info(op_class c) { return op_classes[static_cast<std::size_t>(c)]; }

/// Every class has its row in its place, and unit_of says the same.
constexpr bool op_classes_complete() {
  if (sizeof op_classes / sizeof op_classes[0] != static_cast<std::size_t>(op_class::count)) return false;
  for (std::size_t k = 0; k < sizeof op_classes / sizeof op_classes[0]; ++k)
    if (op_classes[k].self != static_cast<op_class>(k) || op_classes[k].unit != unit_of(op_classes[k].self))
      return false;
  return true;
}
static_assert(op_classes_complete());

}  // namespace heddle::isa

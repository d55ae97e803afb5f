// SPDX-License-Identifier: MIT
#include "heddle/isa/opcode.h"

namespace heddle::isa {

namespace {

constexpr opcode_info table[] = {
#define HEDDLE_X(name, text, cls, constants, exchange, predicates, flow, access, effect, members) \
  {text,                                                                                          \
   op_class::cls,                                                                                 \
   constant_use::constants,                                                                       \
   exchange_rule::exchange,                                                                       \
   predicate_use::predicates,                                                                     \
   flow_kind::flow,                                                                               \
   access_kind::access,                                                                           \
   effect_kind::effect,                                                                           \
   member_mask::members},
    HEDDLE_OPCODES(HEDDLE_X)
#undef HEDDLE_X
};

}  // namespace

const opcode_info& info(opcode op) { return table[static_cast<unsigned>(op)]; }

unsigned size_of(dtype t) {
  switch (t) {
    case dtype::none:
    case dtype::pred: return 0;
    case dtype::u8:
    case dtype::s8:
    case dtype::b8: return 1;
    case dtype::u16:
    case dtype::s16:
    case dtype::b16:
    case dtype::f16:
    case dtype::bf16:
    case dtype::e4m3x2:
    case dtype::e5m2x2: return 2;
    case dtype::u64:
    case dtype::s64:
    case dtype::b64:
    case dtype::f64:
    case dtype::f32x2: return 8;
    case dtype::b128: return 16;
    default: return 4;
  }
}

bool is_float(dtype t) {
  switch (t) {
    case dtype::f16:
    case dtype::f16x2:
    case dtype::bf16:
    case dtype::bf16x2:
    case dtype::f32:
    case dtype::f64:
    case dtype::f32x2: return true;
    default: return false;
  }
}

bool is_signed(dtype t) { return t == dtype::s8 || t == dtype::s16 || t == dtype::s32 || t == dtype::s64; }

const char* name_of(dtype t) {
  static constexpr const char* names[] = {"none", "pred", "u8",  "s8",    "u16",  "s16",    "u32",    "s32",
                                          "u64",  "s64",  "f16", "f16x2", "bf16", "bf16x2", "f32",    "f64",
                                          "b8",   "b16",  "b32", "b64",   "b128", "f32x2",  "e4m3x2", "e5m2x2"};
  return names[static_cast<unsigned>(t)];
}

}  // namespace heddle::isa

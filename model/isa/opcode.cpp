// SPDX-License-Identifier: MIT
#include "heddle/isa/opcode.h"

#include <iterator>

#include "heddle/config/error.h"

namespace heddle::isa {

namespace {

struct dtype_info {
  dtype self;
  const char* name;
  unsigned bytes;
  bool is_float;
  bool is_signed;
};

// In the order of the enumeration. A type without a row is refused when it is used.
constexpr dtype_info types[] = {
    {dtype::none, "none", 0, false, false},     {dtype::pred, "pred", 0, false, false},
    {dtype::u8, "u8", 1, false, false},         {dtype::s8, "s8", 1, false, true},
    {dtype::u16, "u16", 2, false, false},       {dtype::s16, "s16", 2, false, true},
    {dtype::u32, "u32", 4, false, false},       {dtype::s32, "s32", 4, false, true},
    {dtype::u64, "u64", 8, false, false},       {dtype::s64, "s64", 8, false, true},
    {dtype::f16, "f16", 2, true, false},        {dtype::f16x2, "f16x2", 4, true, false},
    {dtype::bf16, "bf16", 2, true, false},      {dtype::bf16x2, "bf16x2", 4, true, false},
    {dtype::f32, "f32", 4, true, false},        {dtype::f64, "f64", 8, true, false},
    {dtype::b8, "b8", 1, false, false},         {dtype::b16, "b16", 2, false, false},
    {dtype::b32, "b32", 4, false, false},       {dtype::b64, "b64", 8, false, false},
    {dtype::b128, "b128", 16, false, false},    {dtype::f32x2, "f32x2", 8, true, false},
    {dtype::e4m3x2, "e4m3x2", 2, false, false}, {dtype::e5m2x2, "e5m2x2", 2, false, false},
    {dtype::s4, "s4", 1, false, true},          {dtype::u4, "u4", 1, false, false},
    {dtype::b1, "b1", 1, false, false},
};

constexpr bool in_order() {
  for (unsigned k = 0; k < std::size(types); ++k)
    if (types[k].self != static_cast<dtype>(k)) return false;
  return true;
}
static_assert(in_order());

const dtype_info& about(dtype t) {
  const auto k = static_cast<unsigned>(t);
  invariant(k < std::size(types), "a data type has no row in the table of types");
  return types[k];
}

}  // namespace

unsigned size_of(dtype t) { return about(t).bytes; }
bool is_float(dtype t) { return about(t).is_float; }
bool is_signed(dtype t) { return about(t).is_signed; }
const char* name_of(dtype t) { return about(t).name; }

}  // namespace heddle::isa

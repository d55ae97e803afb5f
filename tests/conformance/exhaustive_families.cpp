// SPDX-License-Identifier: MIT
#include "exhaustive_families.h"

namespace heddle::conformance {

namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// "f16" of "cvt.rn.f32.f16", "u8" of "cvt.s16.u8 32".
std::string last_type(const std::string& name) {
  const std::string mnemonic = name.substr(0, name.find(' '));
  return mnemonic.substr(mnemonic.rfind('.') + 1);
}

/// True if the result depends only on operands of the own thread.
bool computes(const conformance_case& c) {
  for (const char* of_others : {"[%", "%b", "%d", "shfl", "vote", "match", "redux", "elect", "bar.", "mov.b"})
    if (has(c.code, of_others)) return false;
  return c.range.empty();
}

bool shape_of_one(const conformance_case& c, operand_shape& shape) {
  const std::string from = last_type(c.name);
  if (c.name.rfind("cvt", 0) == 0 && (from == "u8" || from == "s8")) return shape = operand_shape::byte, true;
  if (c.operand_bits == 16) return shape = operand_shape::half, true;
  return shape = operand_shape::halves, from == "f16x2" || from == "bf16x2";
}

bool shape_of_two(const conformance_case& c, operand_shape& shape) {
  const bool shift = (c.family == "shl" || c.family == "shr") && has(c.code, "%h0, %r1");
  if (c.operand_bits == 16 || shift) return shape = operand_shape::half, true;
  return shape = operand_shape::halves, has(c.name, "16x2") && c.name.rfind("cvt", 0) != 0;
}

bool of_bytes(const conformance_case& c) {
  const bool four = c.family.back() == '4' && has(c.code, "%q, %r0, %r1, %r2");
  return four || (has(c.code, " %q") && has(c.code, "%r0.b") && has(c.code, "%r1.b") && c.family.back() != '4');
}

}  // namespace

std::vector<exhaustive_case> exhaustive_families() {
  std::vector<exhaustive_case> chosen;
  for (const auto& families : {all_families(), rare_families(), later_families()})
    for (conformance_case c : families) {
      if (!computes(c)) continue;
      if (c.name.rfind("set.", 0) == 0 && !has(c.code, "2;"))
        c.operands = 2;  // the third column is for forms with a predicate
      operand_shape shape;
      if (c.operands == 1 ? shape_of_one(c, shape) : c.operands == 2 && shape_of_two(c, shape))
        chosen.push_back({c, shape});
    }
  for (conformance_case c : video_families()) {
    if (!of_bytes(c)) continue;
    c.operands = 2;
    chosen.push_back({c, operand_shape::bytes});
  }
  return chosen;
}

}  // namespace heddle::conformance

// SPDX-License-Identifier: MIT
#include "straight_reference.h"

namespace heddle::conformance {

std::uint64_t straight_reference::value(const scalar_operand& o) const {
  if (o.what == scalar_operand::kind::reg) return o.invert ? !registers_[o.reg] : registers_[o.reg];
  if (o.what == scalar_operand::kind::integer) return o.bits;
  throw reference_limit("operand of a straight kernel");
}

std::uint64_t straight_reference::run(const std::uint32_t operands[4]) {
  bool carry = false;
  for (const scalar_step& s : program_.steps) {
    if (s.what == scalar_step::kind::load && s.space == ptx::state_space::param) continue;
    if (s.what == scalar_step::kind::load) {
      registers_[s.d[0].reg] = extended(s.op.type, operands[s.s[0].offset / 4]);
    } else if (s.what == scalar_step::kind::store) {
      return truncated(s.op.type, value(s.s[1]));
    } else {
      if (s.what != scalar_step::kind::compute || s.guarded) throw reference_limit(s.op.text);
      std::uint64_t v[6] = {};
      unsigned n = 0;
      for (const scalar_operand& o : s.s) v[n++] = value(o);
      const scalar_result r = evaluate(s.op, v, n, carry);
      const std::uint64_t result = s.op.name == "cvt" ? extended(s.op.type, r.value) : r.value;
      registers_[s.d[0].reg] = truncated(program_.registers[s.d[0].reg], result);
    }
  }
  throw reference_limit("a straight kernel without a store");
}

const scalar_operation* straight_reference::only() const {
  const scalar_operation* found = nullptr;
  for (const scalar_step& s : program_.steps) {
    if (s.what != scalar_step::kind::compute || s.op.name == "selp") continue;
    if (found != nullptr) return nullptr;
    found = &s.op;
  }
  return found;
}

}  // namespace heddle::conformance

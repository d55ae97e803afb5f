// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/expansion.h"

#include <utility>

namespace heddle::ptx {

std::vector<value> expansion::words(unsigned count) const {
  std::vector<value> data;
  for (unsigned k = 0; k < count; ++k) data.push_back(word());
  return data;
}

value expansion::make(ptx_op op, isa::dtype type, std::vector<value> sources, std::uint8_t sub) const {
  const value result = isa::size_of(type) == 8 ? pair() : word();
  hir_instruction step = in_place_of(like_, op, type, {result}, std::move(sources));
  step.m.sub = sub;
  code_.append(std::move(step));
  return result;
}

value expansion::test(isa::compare cmp, isa::dtype type, const value& a, const value& b) const {
  const value result = predicate();
  hir_instruction t = in_place_of(like_, ptx_op::setp, type, {result}, {a, b});
  t.m.cmp = cmp;
  code_.append(std::move(t));
  return result;
}

void expansion::put(ptx_op op, isa::dtype type, std::vector<value> destinations, std::vector<value> sources) const {
  code_.append(in_place_of(like_, op, type, std::move(destinations), std::move(sources)));
}

void expansion::finish(ptx_op op, isa::dtype type, const value& destination, std::vector<value> sources) const {
  hir_instruction last = in_place_of(like_, op, type, {destination}, std::move(sources));
  last.guard = like_.guard;
  code_.append(std::move(last));
}

void expansion::jump_if(const value& condition, std::uint32_t label) const {
  hir_instruction j = in_place_of(like_, ptx_op::bra, isa::dtype::none, {}, {});
  j.target = label;
  j.guard = condition;
  code_.append(std::move(j));
}

void expansion::jump_unless_guarded(std::uint32_t label) const {
  if (like_.guard.what == value::kind::none) return;
  value skips = like_.guard;
  skips.negate = !skips.negate;
  jump_if(skips, label);
}

void expansion::require() const {
  hir_instruction capability = like_;
  capability.guard = {};
  code_.append(std::move(capability));
}

}  // namespace heddle::ptx

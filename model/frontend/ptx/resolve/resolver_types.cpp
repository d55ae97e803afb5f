// SPDX-License-Identifier: MIT
// Types of register operands of instructions with decoders of their own; resolver_operands.cpp checks all others.
#include "heddle/frontend/ptx/resolve/resolver.h"

namespace heddle::ptx {

using isa::dtype;

void resolver::check_type(const value& v, dtype wanted, bool wider, const location& where) const {
  if (!v.is_reg() || wanted == dtype::none) return;
  const dtype declared = out_.registers[v.reg].type;
  if (declared == dtype::none || register_fits(wanted, declared, wider)) return;
  fail(where, "operand of '" + current_->mnemonic() + "' is a ." + isa::name_of(declared) +
                  " register, expected one for ." + isa::name_of(wanted));
}

void resolver::check_element_types(const std::vector<value>& elements, std::size_t from, dtype wanted, bool wider,
                                   const location& where) const {
  for (std::size_t k = from; k < elements.size(); ++k) check_type(elements[k], wanted, wider, where);
}

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/move_translator.h"

#include <utility>

namespace heddle::ptx {

bool move_translator::is_vector(const ast_operand& o) {
  kernel_symbol named;
  return o.what == ast_operand::kind::vector ||
         (o.what == ast_operand::kind::identifier && o.component.empty() && names_.find(o.text, named) &&
          named.what == kernel_symbol::kind::components);
}

void move_translator::translate(hir_instruction h, const ast_instruction& i) {
  if (i.operands.size() != 2) code_.fail(i.where, "'" + i.mnemonic() + "' needs two operands");
  const ast_operand& d = i.operands[0];
  const ast_operand& s = i.operands[1];
  const bool from = is_vector(s), to = is_vector(d);
  if (h.m.vector > 1) return move_elements(std::move(h), d, s);
  if (from && to) code_.fail(i.where, "vector moves between vectors are not supported in '" + i.mnemonic() + "'");
  if (from) h.op = ptx_op::pack;
  if (to) h.op = ptx_op::unpack;
  in_.elements(d, h.m.type, h.dst, true, i.where);
  in_.elements(s, h.m.type, h.src, false, i.where);
  kernel_symbol named;
  if (!from && s.what == ast_operand::kind::identifier && !names_.find(s.text, named)) special_.check_special(h, s);
  code_.append(std::move(h));
}

std::vector<value> move_translator::read_elements(const hir_instruction& h, const ast_operand& s) {
  std::vector<value> from;
  kernel_symbol named;
  if (s.what == ast_operand::kind::identifier && s.component.empty() && s.text[0] == '%' &&
      !names_.find(s.text, named)) {
    for (const char* component : {"x", "y", "z"}) {  // of a special register, whose fourth element is zero
      ast_operand e = s;
      e.component = component;
      from.push_back(in_.operand(e, h.m.type, s.where));
    }
    from.push_back(immediate_value(0));
  } else {
    in_.elements(s, h.m.type, from, false, s.where);
  }
  return from;
}

/// mov.v2, mov.v4: all elements are read before the first is written.
void move_translator::move_elements(hir_instruction h, const ast_operand& d, const ast_operand& s) {
  const unsigned count = h.m.vector;
  const std::vector<value> from = read_elements(h, s);
  std::vector<value> to;
  in_.elements(d, h.m.type, to, true, d.where);
  if (from.size() != count || to.size() != count)
    code_.fail(h.where,
               "'" + code_.current()->mnemonic() + "' needs " + std::to_string(count) + " elements on both sides");
  checker_.check_element_types(to, 0, h.m.type, false, d.where);
  checker_.check_element_types(from, 0, h.m.type, false, s.where);
  h.m.vector = 1;
  std::vector<value> read(count);
  const std::uint32_t words = isa::size_of(h.m.type) == 8 ? 2 : 1;
  for (unsigned k = 0; k < count; ++k) {
    hir_instruction m = h;
    m.guard = {};
    read[k] = register_value(code_.new_register(words, 8 * isa::size_of(h.m.type)));
    m.dst = {read[k]};
    m.src = {from[k]};
    code_.append(std::move(m));
  }
  for (unsigned k = 0; k < count; ++k) {
    hir_instruction m = h;
    m.dst = {to[k]};
    m.src = {read[k]};
    code_.append(std::move(m));
  }
}

}  // namespace heddle::ptx

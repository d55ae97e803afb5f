// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/texture_translator.h"

#include <algorithm>

namespace heddle::ptx {

/// A named operand must be a texture or a surface, as the instruction requires.
void texture_translator::check_reference(const hir_instruction& h, const ast_instruction& i,
                                         const ast_operand& at) const {
  const bool texture = h.op == ptx_op::tex || h.op == ptx_op::tld4 || h.op == ptx_op::txq;
  const char* wanted = texture ? "texref" : "surfref";
  const auto check = [&](const std::vector<ast_variable>& variables) {
    for (const ast_variable& v : variables)
      if (v.name == at.text && v.type == isa::dtype::none && v.type_name != wanted)
        code_.fail(at.where,
                   "'" + at.text + "' in '" + i.mnemonic() + "' is a ." + v.type_name + ", expected a ." + wanted);
  };
  check(kernel_.parameters);
  check(module_.variables);
}

/// Checks the coordinates: one, or a vector of two or four. Their registers have the second type; a layer index is an
/// integer.
void texture_translator::check_coordinates(const hir_instruction& h, const ast_instruction& i, const ast_operand& at,
                                           const texture_form& form) {
  using isa::dtype;
  if (at.list.empty() || at.list[0].what != ast_operand::kind::vector) return;
  const std::vector<ast_operand>& list = at.list[0].list;
  if (list.size() != 1 && list.size() != 2 && list.size() != 4)
    code_.fail(at.where, std::to_string(list.size()) + " coordinates in '" + i.mnemonic() +
                             "', expected 1, 2 or 4 (the last ones of 3 count for nothing)");
  const bool surface = h.op == ptx_op::suld || h.op == ptx_op::sust;
  for (std::size_t k = 0; k < list.size() && k < form.coordinates(); ++k) {
    const bool layer = k == 0 && isa::is_array(form.shape);
    check_register(list[k], layer || surface ? dtype::u32 : form.type[form.types > 1 ? 1 : 0], false);
  }
}

void texture_translator::check_register(const ast_operand& o, isa::dtype t, bool wider) {
  kernel_symbol s;
  if (o.what != ast_operand::kind::identifier || !names_.find(o.text, s) || s.what != kernel_symbol::kind::reg) return;
  const std::string problem = checker_.compare_register(code_.registers()[s.first].type, t, wider, false);
  if (!problem.empty()) code_.fail(o.where, problem);
}

/// Checks the level of detail or the gradients after the coordinates, and the destination registers of the texels.
void texture_translator::check_texels(const hir_instruction& h, const ast_instruction& i, const texture_form& form) {
  const bool surface = h.op == ptx_op::suld;
  if (i.operands.size() < 2 + form.more_operands()) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  for (std::size_t k = 2; k < i.operands.size(); ++k) {
    if (form.gradients && i.operands[k].what == ast_operand::kind::vector &&
        i.operands[k].list.size() < isa::dimensions(form.shape))
      code_.fail(i.operands[k].where, "gradient in '" + i.mnemonic() + "' of " +
                                          std::to_string(i.operands[k].list.size()) + " elements, expected " +
                                          std::to_string(isa::dimensions(form.shape)));
    check_register(i.operands[k], form.type[form.types > 1 ? 1 : 0], false);
  }
  const ast_operand& d = i.operands[0];
  const bool nothing =
      d.what == ast_operand::kind::sink ||
      (d.what == ast_operand::kind::vector && std::all_of(d.list.begin(), d.list.end(), [](const ast_operand& e) {
         return e.what == ast_operand::kind::sink;
       }));
  if (nothing) code_.fail(d.where, "'_' in '" + i.mnemonic() + "', expected a register");
  if (d.what == ast_operand::kind::vector)
    for (const ast_operand& e : d.list) check_register(e, form.type[0], surface);
  else check_register(d, form.type[0], surface);
}

/// The handle with its coordinates in brackets.
void texture_translator::check_place(const hir_instruction& h, const ast_instruction& i, const ast_operand& at) const {
  const bool asks = h.op == ptx_op::txq || h.op == ptx_op::suq;
  if (at.what != ast_operand::kind::address || at.text.empty() || at.offset != 0 || at.list.size() > (asks ? 0 : 1))
    code_.fail(at.where,
               "expected [handle, {coordinates}] in '" + i.mnemonic() + "': samplers of their own are not supported");
  check_reference(h, i, at);
}

/// The sources are the handle, the coordinates and, for a store, the data, for a fetch the level or the gradients.
void texture_translator::translate(hir_instruction h, const ast_instruction& i) {
  const texture_form form = decode_texture_form(i, module_.file);
  h.form = static_cast<std::uint32_t>(out_.texture_forms.size());
  out_.texture_forms.push_back(form);
  const bool stores = h.op == ptx_op::sust, asks = h.op == ptx_op::txq || h.op == ptx_op::suq;
  if (i.operands.size() < 2) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const std::size_t most = 2 + form.more_operands();
  if (i.operands.size() > most)
    code_.fail(i.operands[most].where,
               "offsets of texels and values to compare with are not supported in instruction '" + i.mnemonic() + "'");
  const ast_operand& at = i.operands[stores ? 0 : 1];
  check_place(h, i, at);
  if (!asks) check_coordinates(h, i, at, form);
  if (!stores) in_.elements(i.operands[0], isa::dtype::b32, h.dst, true, i.where);
  if (form.types != 0 && !asks && !stores) check_texels(h, i, form);
  ast_operand handle;
  handle.text = at.text;
  handle.where = at.where;
  h.src.push_back(in_.identifier(handle, i.where));
  if (!asks) {
    if (at.list.empty()) code_.fail(at.where, "'" + i.mnemonic() + "' without coordinates");
    const std::size_t first = h.src.size();
    in_.elements(at.list[0], form.type[form.types > 1 ? 1 : 0], h.src, false, i.where);
    if (h.src.size() < first + form.coordinates())
      code_.fail(at.where, "'" + i.mnemonic() + "' needs " + std::to_string(form.coordinates()) + " coordinates");
    h.src.resize(first + form.coordinates());
  }
  for (unsigned k = 0; k < form.more_operands() && h.op == ptx_op::tex; ++k) {
    const std::size_t first = h.src.size(), wanted = form.level ? 1 : isa::dimensions(form.shape);
    if (2 + k >= i.operands.size()) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
    in_.elements(i.operands[2 + k], form.type[form.types > 1 ? 1 : 0], h.src, false, i.where);
    if (h.src.size() < first + wanted)
      code_.fail(i.operands[2 + k].where, "too few elements in '" + i.mnemonic() + "'");
    h.src.resize(first + wanted);
  }
  if (stores) in_.elements(i.operands[1], form.type[0], h.src, false, i.where);
  code_.append(std::move(h));
}

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#include <algorithm>

#include "heddle/frontend/ptx/hir/texture_form.h"
#include "heddle/frontend/ptx/resolve/translate/resolver.h"

namespace heddle::ptx {

/// A named operand must be a texture or a surface, as the instruction requires.
void resolver::check_reference(const ast_instruction& i, const ast_operand& at) const {
  const char* wanted = i.opcode[0] == 't' ? "texref" : "surfref";
  const auto check = [&](const std::vector<ast_variable>& variables) {
    for (const ast_variable& v : variables)
      if (v.name == at.text && v.type == isa::dtype::none && v.type_name != wanted)
        code_.fail(at.where,
                   "'" + at.text + "' in '" + i.mnemonic() + "' is a ." + v.type_name + ", expected a ." + wanted);
  };
  check(kernel_.parameters);
  check(module_.ast->variables);
}

/// Checks the coordinates: one, or a vector of two or four. Their registers have the second type; a layer index is an
/// integer.
void resolver::check_coordinates(const ast_instruction& i, const ast_operand& at, const texture_form& form) {
  using isa::dtype;
  if (at.list.empty() || at.list[0].what != ast_operand::kind::vector) return;
  const std::vector<ast_operand>& list = at.list[0].list;
  if (list.size() != 1 && list.size() != 2 && list.size() != 4)
    code_.fail(at.where, std::to_string(list.size()) + " coordinates in '" + i.mnemonic() +
                             "', expected 1, 2 or 4 (the last ones of 3 count for nothing)");
  const bool surface = i.opcode == "suld" || i.opcode == "sust";
  for (std::size_t k = 0; k < list.size() && k < form.coordinates(); ++k) {
    kernel_symbol s;
    if (list[k].what != ast_operand::kind::identifier || !names_.find(list[k].text, s) ||
        s.what != kernel_symbol::kind::reg)
      continue;
    const bool layer = k == 0 && isa::is_array(form.shape);
    const dtype t = layer || surface ? dtype::u32 : form.type[form.types > 1 ? 1 : 0];
    const std::string problem = checker_.compare_register(code_.registers()[s.first].type, t, false, false);
    if (!problem.empty()) code_.fail(list[k].where, problem);
  }
}

/// Checks the level of detail or the gradients after the coordinates, and the destination registers of the texels.
void resolver::check_texels(const ast_instruction& i, const texture_form& form) {
  using isa::dtype;
  const bool surface = i.opcode == "suld";
  const std::size_t behind = i.has("level") ? 1 : i.has("grad") ? 2 : 0;
  if (i.operands.size() < 2 + behind) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const auto check = [&](const ast_operand& o, dtype t, bool wider) {
    kernel_symbol s;
    if (o.what != ast_operand::kind::identifier || !names_.find(o.text, s) || s.what != kernel_symbol::kind::reg)
      return;
    const std::string problem = checker_.compare_register(code_.registers()[s.first].type, t, wider, false);
    if (!problem.empty()) code_.fail(o.where, problem);
  };
  for (std::size_t k = 2; k < i.operands.size(); ++k) {
    if (i.has("grad") && i.operands[k].what == ast_operand::kind::vector &&
        i.operands[k].list.size() < isa::dimensions(form.shape))
      code_.fail(i.operands[k].where, "gradient in '" + i.mnemonic() + "' of " +
                                          std::to_string(i.operands[k].list.size()) + " elements, expected " +
                                          std::to_string(isa::dimensions(form.shape)));
    check(i.operands[k], form.type[form.types > 1 ? 1 : 0], false);
  }
  const ast_operand& d = i.operands[0];
  const bool nothing =
      d.what == ast_operand::kind::sink ||
      (d.what == ast_operand::kind::vector && std::all_of(d.list.begin(), d.list.end(), [](const ast_operand& e) {
         return e.what == ast_operand::kind::sink;
       }));
  if (nothing) code_.fail(d.where, "'_' in '" + i.mnemonic() + "', expected a register");
  if (d.what == ast_operand::kind::vector)
    for (const ast_operand& e : d.list) check(e, form.type[0], surface);
  else check(d, form.type[0], surface);
}

/// tex, tld4, suld, sust, txq, suq: the sources are the handle, the coordinates and, for a store, the data.
void resolver::texture_instruction(hir_instruction h, const ast_instruction& i) {
  const texture_form form = decode_texture_form(i, module_.ast->file);
  const bool stores = h.op == ptx_op::sust, asks = h.op == ptx_op::txq || h.op == ptx_op::suq;
  if (i.operands.size() < 2) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const auto has = [&](const char* word) {
    return std::find(i.modifiers.begin(), i.modifiers.end(), word) != i.modifiers.end();
  };
  const std::size_t most = 2 + (has("level") ? 1 : 0) + (has("grad") ? 2 : 0);
  if (i.operands.size() > most)
    code_.fail(i.operands[most].where,
               "offsets of texels and values to compare with are not supported in instruction '" + i.mnemonic() + "'");
  const ast_operand& at = i.operands[stores ? 0 : 1];
  if (at.what != ast_operand::kind::address || at.text.empty() || at.offset != 0 || at.list.size() > (asks ? 0 : 1))
    code_.fail(at.where,
               "expected [handle, {coordinates}] in '" + i.mnemonic() + "': samplers of their own are not supported");
  check_reference(i, at);
  if (!asks) check_coordinates(i, at, form);
  if (!stores) in_.elements(i.operands[0], isa::dtype::b32, h.dst, true, i.where);
  if (form.types != 0 && !asks && !stores) check_texels(i, form);
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
  if (stores) in_.elements(i.operands[1], form.type[0], h.src, false, i.where);
  code_.append(std::move(h));
}

}  // namespace heddle::ptx

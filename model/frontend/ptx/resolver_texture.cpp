// SPDX-License-Identifier: MIT
#include <algorithm>

#include "frontend/ptx/resolver.h"
#include "frontend/ptx/texture_form.h"

namespace heddle::ptx {

/// tex, tld4, suld, sust, txq, suq: the sources are the handle, the coordinates and, of a store, the data.
void resolver::texture_instruction(hir_instruction h, const ast_instruction& i) {
  const texture_form form = decode_texture_form(i, module_.ast->file);
  const bool stores = h.op == ptx_op::sust, asks = h.op == ptx_op::txq || h.op == ptx_op::suq;
  if (i.operands.size() < 2) fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const auto has = [&](const char* word) { return std::find(i.modifiers.begin(), i.modifiers.end(), word) != i.modifiers.end(); };
  const std::size_t most = 2 + (has("level") ? 1 : 0) + (has("grad") ? 2 : 0);
  if (i.operands.size() > most)
    fail(i.operands[most].where, "offsets of texels and values to compare with are not supported in instruction '" + i.mnemonic() + "'");
  const ast_operand& at = i.operands[stores ? 0 : 1];
  if (at.what != ast_operand::kind::address || at.text.empty() || at.offset != 0 || at.list.size() > (asks ? 0 : 1))
    fail(at.where, "expected [handle, {coordinates}] in '" + i.mnemonic() + "': samplers of their own are not supported");
  if (!stores) elements(i.operands[0], isa::dtype::b32, h.dst, true, i.where);
  ast_operand handle;
  handle.text = at.text;
  handle.where = at.where;
  h.src.push_back(identifier(handle, i.where));
  if (!asks) {
    if (at.list.empty()) fail(at.where, "'" + i.mnemonic() + "' without coordinates");
    const std::size_t first = h.src.size();
    elements(at.list[0], form.type[form.types > 1 ? 1 : 0], h.src, false, i.where);
    if (h.src.size() < first + form.coordinates())
      fail(at.where, "'" + i.mnemonic() + "' needs " + std::to_string(form.coordinates()) + " coordinates");
    h.src.resize(first + form.coordinates());
  }
  if (stores) elements(i.operands[1], form.type[0], h.src, false, i.where);
  append(std::move(h));
}

}  // namespace heddle::ptx

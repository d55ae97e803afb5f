// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/video_operands.h"

namespace heddle::ptx {

void video_operands::read(operand_resolver& in, const operand_checker& checker) {
  if (i_.operands.size() < 3 || i_.operands.size() > 4)
    code_.fail(i_.where, "'" + i_.mnemonic() + "' with too few operands");
  for (std::size_t k = 0; k < i_.operands.size(); ++k) read(k, in, checker);
}

void video_operands::read(std::size_t k, operand_resolver& in, const operand_checker& checker) {
  const bool multiplies = form_.what == video_form::action::mad;
  ast_operand o = i_.operands[k];
  const std::string part = o.component;
  const bool negate = o.negate;
  o.component.clear();
  o.negate = false;
  if (negate && (k == 0 || !multiplies || form_.plus_one))
    code_.fail(o.where, "'-' before an operand of '" + i_.mnemonic() + "'");
  if (k == 0) destination_ = in.destination(o, i_.where), place_ = part;
  else sources_[k - 1] = {in.operand(o, isa::dtype::u32, i_.where), part, negate};
  checker.check_type(k == 0 ? destination_ : sources_[k - 1].whole, isa::dtype::b32, false, o.where);
  const bool selects = k < 3 && !(k == 0 && multiplies);
  if (!part.empty() && !(selects && is_part(part, k == 0)))
    code_.fail(o.where, "'." + part + "' is no part of an operand of '" + i_.mnemonic() + "'");
}

/// Checks a part selector: .b0 to .b3, .h0, .h1; for halves .h and two, for bytes .b and four element indices; for a
/// destination a mask such as .h10, .b20.
bool video_operands::is_part(const std::string& part, bool destination) const {
  const unsigned n = static_cast<unsigned>(part.size()) - 1;
  if (form_.lanes == 1) return n == 1 && part[1] < (part[0] == 'b' ? '4' : '2');
  if (part[0] != (form_.lanes == 4 ? 'b' : 'h') || n > form_.lanes || (!destination && n != form_.lanes)) return false;
  for (unsigned k = 1; k <= n; ++k) {
    if (part[k] >= '0' + static_cast<int>(destination ? form_.lanes : 2 * form_.lanes)) return false;
    if (destination && k > 1 && part[k] >= part[k - 1]) return false;
  }
  return true;
}

const value& video_operands::third() const {
  if (i_.operands.size() < 4) code_.fail(i_.where, "'" + i_.mnemonic() + "' with too few operands");
  return sources_[2].whole;
}

}  // namespace heddle::ptx

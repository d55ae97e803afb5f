// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/operand_checker.h"

#include <algorithm>

#include "heddle/frontend/ptx/hir/own_forms.h"
#include "heddle/frontend/ptx/resolve/special_registers.h"

namespace heddle::ptx {

namespace {

using isa::dtype;
using kind = ast_operand::kind;

dtype wanted_type(const operand_form& o, const matched_form& f) {
  using from = operand_form::type_of;
  switch (o.type) {
    case from::first: return f.first;
    case from::result: return f.first == dtype::bf16 ? dtype::u16 : f.first == dtype::bf16x2 ? dtype::b32 : f.first;
    case from::second: return f.second;
    case from::widened: return twice_as_wide(f.first);
    case from::address: return dtype::u64;
    default: return o.fixed;
  }
}

/// True if an operand of the form is present.
bool stands(const operand_form& o, const modifiers& m) {
  return (!o.combined || m.combines) && (!o.hinted || m.hinted);
}

/// Hints have no effect, so their operands are checked only here.
bool takes_operands_unread(ptx_op op) {
  return op == ptx_op::prefetch || op == ptx_op::prefetchu || op == ptx_op::applypriority || op == ptx_op::discard;
}

/// True if an instruction whose address is not checked elsewhere may name a variable of the symbol's space.
bool accepts_space(const hir_instruction& h, const kernel_symbol& s) {
  if (h.op == ptx_op::prefetchu) return s.space == state_space::global;
  if (h.op == ptx_op::mapa || h.op == ptx_op::getctarank) return s.space == state_space::shared;
  if (!takes_operands_unread(h.op)) return true;
  if (h.m.space != state_space::none) return s.space == h.m.space;
  return s.space != state_space::constant && s.space != state_space::param;
}

/// The variable in a cvta must be in the state space that the instruction names.
bool is_of_named_space(const modifiers& m, const kernel_symbol& s) {
  return m.space == state_space::none || m.space == state_space::param || s.space == m.space;
}

/// True if a literal of this kind is allowed for a type. Halves and packed types have no literals.
bool takes_literal(dtype t, kind literal) {
  switch (t) {
    case dtype::f32:
    case dtype::f64: return literal != kind::integer;
    case dtype::b32: return literal != kind::f64;
    case dtype::b64: return literal != kind::f32;
    case dtype::f16:
    case dtype::f16x2:
    case dtype::bf16:
    case dtype::bf16x2:
    case dtype::f32x2:
    case dtype::e4m3x2:
    case dtype::e5m2x2:
    case dtype::b128: return false;
    default: return literal == kind::integer;
  }
}

bool is_literal(const ast_operand& o) { return o.what == kind::integer || o.what == kind::f32 || o.what == kind::f64; }

std::string shown(const ast_operand& o) {
  switch (o.what) {
    case kind::address: return "[" + o.text + (o.text.empty() ? std::to_string(o.offset) : "") + "]";
    case kind::vector: return "{…}";
    case kind::list: return "(…)";
    case kind::pair: return "…|…";
    case kind::sink: return "_";
    default:
      return (o.invert   ? "!"
              : o.negate ? "-"
                         : "") +
             o.text + (o.component.empty() ? "" : "." + std::string(o.component));
  }
}

bool has_registers(const std::vector<ast_operand>& elements) {
  return std::any_of(elements.begin(), elements.end(), [](const ast_operand& e) { return e.what != kind::sink; });
}

/// The description of a literal, or of a register of the type, in messages.
std::string wanted_text(dtype t) {
  switch (t) {
    case dtype::pred: return "a predicate";
    case dtype::f16x2:
    case dtype::bf16x2: return "one of .b32";
    case dtype::f32x2: return "one of .b64";
    case dtype::bf16:
    case dtype::e4m3x2:
    case dtype::e5m2x2: return "one of .b16";
    default: return std::string("one for .") + isa::name_of(t);
  }
}

/// True if a type can hold addresses or parts of them.
bool holds_addresses(dtype t) { return t != dtype::pred && t != dtype::b128 && !isa::is_float(t); }

}  // namespace

/// Throws input_error if the operands match none of the forms.
void operand_checker::check_operands(const hir_instruction& h, const ast_instruction& i,
                                     const std::vector<matched_form>& forms) {
  mismatch first;
  std::vector<matched_form> own;
  if (forms.empty()) {
    const std::string problem = own_words_problem(h, i);
    if (!problem.empty()) code_.fail(i.where, problem);
    for (const operand_column* c : own_operands(i))
      own.push_back({c, type_named(i.modifiers.empty() ? "" : i.modifiers.back()), dtype::none});
  }
  for (const matched_form& f : forms.empty() ? own : forms) {
    if (!f.operands->checked) return;
    mismatch found = compare_operands(h, i, f);
    if (found.what.empty()) return;
    if (first.what.empty() || first.counts) first = std::move(found);
  }
  if (!first.what.empty()) code_.fail(first.where, first.what);
}

void operand_checker::check_literal(const ast_instruction& i, std::size_t k, std::uint64_t least,
                                    std::uint64_t most) const {
  if (i.operands[k].bits >= least && i.operands[k].bits <= most) return;
  code_.fail(i.operands[k].where, "'" + i.operands[k].text + "' in '" + i.mnemonic() + "', expected " +
                                      std::to_string(least) + (least < most ? " to " + std::to_string(most) : ""));
}

operand_checker::mismatch operand_checker::compare_operands(const hir_instruction& h, const ast_instruction& i,
                                                            const matched_form& f) {
  std::size_t k = 0;
  for (const operand_form& o : f.operands->operands) {
    if (!stands(o, h.m)) continue;
    if (k == i.operands.size()) {
      if (o.optional) continue;
      return {"'" + i.mnemonic() + (i.operands.empty() ? "' without operands" : "' with too few operands"), i.where,
              true};
    }
    const ast_operand& given = i.operands[k++];
    const std::string problem = compare_operand(h, given, o, f);
    if (!problem.empty()) return {problem, given.where, false};
  }
  if (k == i.operands.size()) return {};
  const bool none = f.operands->operands.empty();
  return {"'" + i.mnemonic() + (none ? "' takes no operands, expected ';'" : "' with too many operands"),
          i.operands[k].where, true};
}

std::string operand_checker::compare_operand(const hir_instruction& h, const ast_operand& given, const operand_form& o,
                                             const matched_form& f) {
  using form_kind = operand_form::kind;
  const dtype t = wanted_type(o, f);
  const std::string in = "' in '" + code_.current()->mnemonic() + "', expected ";
  switch (o.what) {
    case form_kind::label:
    case form_kind::target_list: return given.what == kind::identifier ? "" : "'" + shown(given) + in + "a label";
    case form_kind::literal: return given.what == kind::integer ? "" : "'" + shown(given) + in + "an integer literal";
    case form_kind::address: return compare_address(h, given);
    case form_kind::elements: {
      if (given.what == kind::sink && o.discards) return "";
      if (given.what != kind::vector)
        return is_vector_register(given) ? compare_components(given, t) : compare_value(h, given, o, t);
      operand_form element = o;
      element.discards = o.destination;
      for (const ast_operand& e : given.list) {
        std::string problem = compare_value(h, e, element, t);
        if (!problem.empty()) return problem;
      }
      return has_registers(given.list) ? "" : "'_" + in + "a register for one element at least";
    }
    default: break;
  }
  if (given.what != kind::pair) {
    if (o.pair != dtype::none && !o.pair_optional)
      return "'" + shown(given) + in + "two destinations with '|' between them";
    return compare_value(h, given, o, t);
  }
  if (o.pair == dtype::none) return "'" + code_.current()->mnemonic() + "' has one destination, expected no '|'";
  operand_form one = o;
  one.discards = h.op != ptx_op::shfl;
  std::string problem = compare_value(h, given.list[0], one, t);
  one.discards = h.op != ptx_op::lop3;
  return problem.empty() ? compare_value(h, given.list[1], one, o.pair) : problem;
}

bool operand_checker::is_vector_register(const ast_operand& given) {
  kernel_symbol s;
  return given.what == kind::identifier && given.component.empty() && names_.find(given.text, s) &&
         s.what == kernel_symbol::kind::components;
}

std::string operand_checker::compare_components(const ast_operand& given, dtype t) {
  kernel_symbol s;
  names_.find(given.text, s);
  for (const std::uint32_t r : s.registers) {
    std::string problem = compare_register(code_.registers()[r].type, t, true, false);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string operand_checker::compare_register(dtype declared, dtype t, bool wider, bool narrow) const {
  if (declared == dtype::none || register_fits(t, declared, wider)) return "";
  if (t == dtype::u64 && narrow && register_fits(dtype::u32, declared, false)) return "";
  return "operand of '" + code_.current()->mnemonic() + "' is a ." + isa::name_of(declared) + " register, expected " +
         wanted_text(t);
}

std::string operand_checker::compare_value(const hir_instruction& h, const ast_operand& given, const operand_form& o,
                                           dtype t) {
  const std::string in = "' in '" + code_.current()->mnemonic() + "', expected ";
  if (is_literal(given)) {
    if (o.destination) return "destination of '" + code_.current()->mnemonic() + "' must be a register";
    if (o.registers_only) return "'" + shown(given) + in + "a register";
    if (takes_literal(t, given.what) || (t == dtype::pred && given.what == kind::integer)) return "";
    if (given.what == kind::integer && takes_literal(t, kind::f64))
      return "integer literal '" + shown(given) + in + "a floating-point one or a register";
    return "literal '" + shown(given) + in + "a register" + (takes_literal(t, kind::integer) ? " or an integer" : "");
  }
  if (given.what == kind::sink) return o.discards ? "" : "'_" + in + "a register";
  if (o.moves && o.what == operand_form::kind::value && given.what == kind::vector) return compare_parts(given.list, t);
  if (given.what == kind::vector) return "vector" + in.substr(1) + "a single register";
  if (given.what != kind::identifier)
    return o.destination ? "destination of '" + code_.current()->mnemonic() + "' must be a register"
                         : "'" + shown(given) + in + "a register";
  return compare_identifier(h, given, o, t);
}

std::string operand_checker::compare_identifier(const hir_instruction& h, const ast_operand& given,
                                                const operand_form& o, dtype t) {
  const std::string in = "' in '" + code_.current()->mnemonic() + "', expected ";
  const std::string must = "destination of '" + code_.current()->mnemonic() + "' must be a register";
  kernel_symbol s;
  if (!names_.find(given.text, s)) {
    if (o.destination)
      return special_registers::is_special(given)
                 ? "special register '" + shown(given) + in + "a register that can be written"
                 : "";
    if (special_registers::is_special(given) && !o.moves && !o.special)
      return "special register '" + shown(given) + in + "a register: only mov and cvt read special ones";
    return "";  // in_.identifier() reports unknown names
  }
  if ((given.invert && t != dtype::pred) || given.negate)
    return std::string("'") + (given.invert ? "!" : "-") + "' before an operand of '" + code_.current()->mnemonic() +
           "', expected a register";
  if (given.invert && o.destination) return must;
  switch (s.what) {
    case kernel_symbol::kind::reg:
      return given.component.empty() ? compare_register(code_.registers()[s.first].type, t, o.wider,
                                                        o.type == operand_form::type_of::address)
                                     : "";
    case kernel_symbol::kind::components: {
      if (given.component.empty() && o.moves && o.what == operand_form::kind::value)
        return compare_parts(std::vector<ast_operand>(s.registers.size(), given), t);
      if (given.component.empty()) return o.moves ? "" : "vector register '" + shown(given) + in + "a single register";
      return s.registers.empty() ? ""
                                 : compare_register(code_.registers()[s.registers[0]].type, t, o.wider,
                                                    o.type == operand_form::type_of::address);
    }
    case kernel_symbol::kind::address:
    case kernel_symbol::kind::words:
      if (o.destination) return must;
      if (o.names && (!is_of_named_space(h.m, s) || !accepts_space(h, s)))
        return "'" + given.text + "' is not in the state space of '" + code_.current()->mnemonic() + "'";
      if ((o.moves || o.names) && holds_addresses(t)) return "";
      return "variable '" + shown(given) + in + "a register";
    default: return "'" + shown(given) + in + "a register";
  }
}

/// The elements of mov's vector operand: two or four registers or literals that together have the size of the other
/// operand.
std::string operand_checker::compare_parts(const std::vector<ast_operand>& parts, dtype t) {
  const std::string in = "'" + code_.current()->mnemonic() + "', expected ";
  const unsigned bytes = isa::size_of(t);
  if (isa::is_float(t) || isa::is_signed(t) || t == dtype::pred || t == dtype::u16 || t == dtype::u32 ||
      t == dtype::u64)
    return "vector in " + in + "one in a mov of bits (.b32, .b64, ...)";
  if ((parts.size() != 2 && parts.size() != 4) || parts.size() > bytes)
    return std::to_string(parts.size()) + " elements in " + in + "two or four";
  if (!has_registers(parts)) return "'_' in " + in + "a register for one element at least";
  kernel_symbol s;
  for (const ast_operand& e : parts) {
    if (e.what != kind::identifier || !names_.find(e.text, s) ||
        (s.what != kernel_symbol::kind::reg && s.what != kernel_symbol::kind::components))
      continue;
    const dtype declared = code_.registers()[s.what == kernel_symbol::kind::reg ? s.first : s.registers[0]].type;
    if (declared == dtype::none || isa::size_of(declared) * parts.size() == bytes) continue;
    return "element '" + e.text + "' is a ." + isa::name_of(declared) + " register in " + in + "ones of " +
           std::to_string(8 * bytes / parts.size()) + " bits";
  }
  return "";
}

std::string operand_checker::compare_address(const hir_instruction& h, const ast_operand& given) {
  const std::string in = "' in '" + code_.current()->mnemonic() + "', expected ";
  if (given.what != kind::address) return "'" + shown(given) + in + "an address [base+offset]";
  const bool coordinates = h.op == ptx_op::cp && h.m.dimensions != 0;
  if (!given.list.empty() && !coordinates) return "address with several elements" + in.substr(1) + "[base+offset]";
  if (given.text.empty()) {
    if (h.m.space == state_space::local) return "";
    return "'" + shown(given) + in + "a register or a variable: only .local has absolute addresses";
  }
  kernel_symbol s;
  if (!names_.find(given.text, s)) {
    if (special_registers::is_special(given))
      return "special register '" + given.text + in + "a register or a variable";
    const std::vector<ast_function>& functions = module_.functions;
    const bool function =
        std::any_of(functions.begin(), functions.end(), [&](const ast_function& f) { return f.name == given.text; });
    if (function) return "function '" + given.text + in + "a register or a variable";
    if (!takes_operands_unread(h.op)) return "";  // in_.address() reports unknown names
    return "unknown name '" + given.text + in + "a register or a variable";
  }
  if (s.what == kernel_symbol::kind::address && !accepts_space(h, s))
    return "'" + given.text + "' is not in the state space of '" + code_.current()->mnemonic() + "'";
  if (s.what != kernel_symbol::kind::reg) return "";
  const dtype declared = code_.registers()[s.first].type;
  if (register_fits(dtype::u64, declared, false) || register_fits(dtype::u32, declared, false)) return "";
  return "address '" + given.text + "' of '" + code_.current()->mnemonic() + "' is a ." + isa::name_of(declared) +
         " register, expected one for .u64 or .u32";
}

void operand_checker::check_type(const value& v, dtype wanted, bool wider, const location& where) const {
  if (!v.is_reg() || wanted == dtype::none) return;
  const dtype declared = code_.registers()[v.reg].type;
  if (declared == dtype::none || register_fits(wanted, declared, wider)) return;
  code_.fail(where, "operand of '" + code_.current()->mnemonic() + "' is a ." + isa::name_of(declared) +
                        " register, expected one for ." + isa::name_of(wanted));
}

void operand_checker::check_element_types(const std::vector<value>& elements, std::size_t from, dtype wanted,
                                          bool wider, const location& where) const {
  for (std::size_t k = from; k < elements.size(); ++k) check_type(elements[k], wanted, wider, where);
}

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/matrix_translator.h"

namespace heddle::ptx {

namespace {

/// The type of the registers of operand `k`.
isa::dtype element_type(const hir_instruction& h, std::size_t k, const matrix_form& form) {
  using isa::dtype;
  if (h.op == ptx_op::ldmatrix) return dtype::b32;
  const bool multiplies = form.what == matrix_form::action::multiply;
  const bool input = multiplies ? k == 1 || k == 2 : form.which == 'a' || form.which == 'b';
  const dtype named = !multiplies ? form.type[0]
                      : input     ? (form.types == 4 ? form.type[k] : dtype::f16)
                                  : form.type[k == 0            ? 0
                                              : form.types == 4 ? 3
                                                                : form.types - 1];
  return named == dtype::f64 || (!input && named == dtype::f32) ? named : dtype::u32;
}

}  // namespace

/// Checks registers and literals of a matrix operand against its type: integers and pairs of halves are held in 32-bit
/// registers.
void matrix_translator::check_fragment(const hir_instruction& h, const ast_instruction& i, std::size_t k,
                                       const matrix_form& form) {
  using kind = ast_operand::kind;
  const ast_operand& o = i.operands[k];
  if (h.op == ptx_op::movmatrix) return;  // own_forms.h
  if (form.sparse && k == 4 && o.what == kind::identifier) return check_elements(i, {o}, isa::dtype::u32);
  if (o.what == kind::address) {
    const std::string problem = checker_.compare_address(h, o);
    if (!problem.empty()) code_.fail(o.where, problem);
    return;
  }
  if (form.what != matrix_form::action::multiply && h.op == ptx_op::wmma && k == 2) return;  // the stride
  const bool wanted_vector = o.what != kind::vector && !checker_.is_vector_register(o);
  if (wanted_vector)
    code_.fail(o.where, "'" + o.text + "' in '" + i.mnemonic() + "', expected a vector {…} of registers");
  if (o.what == kind::vector) check_elements(i, o.list, element_type(h, k, form));
}

void matrix_translator::check_elements(const ast_instruction& i, const std::vector<ast_operand>& elements,
                                       isa::dtype t) {
  using isa::dtype;
  using kind = ast_operand::kind;
  for (const ast_operand& e : elements) {
    kernel_symbol s;
    if (e.what == kind::f64 && t == dtype::f32)
      code_.fail(e.where,
                 "literal '" + e.text + "' in '" + i.mnemonic() + "', expected one of .f32 (0f...) or a register");
    if (e.what != kind::identifier || !names_.find(e.text, s)) continue;
    if (s.what == kernel_symbol::kind::address || s.what == kernel_symbol::kind::words)
      code_.fail(e.where, "variable '" + e.text + "' in '" + i.mnemonic() + "', expected a register");
    if (s.what != kernel_symbol::kind::reg) continue;
    const dtype declared = code_.registers()[s.first].type;
    if (t == dtype::u32 && (declared == dtype::f16x2 || declared == dtype::bf16x2)) continue;
    const std::string problem = checker_.compare_register(declared, t, false, false);
    if (!problem.empty()) code_.fail(e.where, problem);
  }
}

void matrix_translator::check_counts(const hir_instruction& h, const ast_instruction& i,
                                     const matrix_form& form) const {
  const bool moves = form.what != matrix_form::action::multiply;  // wmma.load, wmma.store
  if (i.operands.size() < 2) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const std::size_t most = form.sparse ? 6 : h.op == ptx_op::wmma || h.op == ptx_op::mma ? 4 : 2;
  if (form.sparse && i.operands.size() < most) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  if (i.operands.size() > most) code_.fail(i.operands[most].where, "'" + i.mnemonic() + "' with too many operands");
  const std::size_t place = form.what == matrix_form::action::store ? 0 : 1;  // operand index of an address
  if (moves && h.op != ptx_op::movmatrix && i.operands[place].what != ast_operand::kind::address)
    code_.fail(i.operands[place].where,
               "'" + i.operands[place].text + "' in '" + i.mnemonic() + "', expected an address [base+offset]");
  const std::size_t all = h.op == ptx_op::ldmatrix ? 2 : h.op == ptx_op::wmma && moves ? 3 : most;
  if (i.operands.size() > all) code_.fail(i.operands[all].where, "'" + i.mnemonic() + "' with too many operands");
}

/// mma.sp: the last operand.
void matrix_translator::read_selector(const ast_instruction& i, matrix_form& form) const {
  if (i.operands.size() != 6) return;  // check_counts
  const ast_operand& o = i.operands[5];
  if (o.what != ast_operand::kind::integer || o.bits > 3)
    code_.fail(o.where, "'" + o.text + "' in '" + i.mnemonic() + "', expected 0 to 3");
  form.selector = static_cast<unsigned>(o.bits);
}

/// The registers of the first operand are written, unless it is the address of a store; the registers of the other
/// operands are read.
void matrix_translator::translate(hir_instruction h, const ast_instruction& i) {
  matrix_form form = decode_matrix_form(i, file_);
  if (form.sparse) read_selector(i, form);
  h.form = static_cast<std::uint32_t>(out_.matrix_forms.size());
  out_.matrix_forms.push_back(form);
  if (h.op == ptx_op::stmatrix) return store(h, i, form);
  h.m.space = form.space;
  check_counts(h, i, form);
  const std::size_t operands = form.sparse ? 5 : i.operands.size();  // without the selector
  for (std::size_t k = 0; k < operands; ++k) check_fragment(h, i, k, form);
  for (std::size_t k = 0; k < operands; ++k) {
    const ast_operand& o = i.operands[k];
    if (o.what == ast_operand::kind::address) {
      if (!h.src.empty()) code_.fail(o.where, "operand form not supported in instruction '" + i.mnemonic() + "'");
      in_.address(h, o);
    } else if (k == 0) {
      in_.elements(o, isa::dtype::b32, h.dst, true, i.where);
    } else {
      in_.elements(o, isa::dtype::b32, h.src, false, i.where);
    }
  }
  code_.append(std::move(h));
}

/// The 32-bit address in shared memory, which begins at its window, of a generic address.
value matrix_translator::shared_address(const hir_instruction& h, const expansion& steps, const value& generic) {
  using isa::dtype;
  const value local = steps.pair(), low = steps.word();
  hir_instruction to_shared = in_place_of(h, ptx_op::cvta, dtype::u64, {local}, {generic});
  to_shared.m.space = state_space::shared;
  to_shared.m.to = true;
  code_.append(std::move(to_shared));
  hir_instruction narrow = in_place_of(h, ptx_op::cvt, dtype::u32, {low}, {local});
  narrow.m.type2 = dtype::u64;
  narrow.m.types = 2;
  code_.append(std::move(narrow));
  return low;
}

/// stmatrix: lane l holds two adjacent elements of row l / 4 of each matrix; lane l / 4 of the matrix's lanes holds
/// the address of the row. Each lane therefore fetches the address by a shuffle and stores its pair. Transposed
/// matrices are transposed first.
void matrix_translator::store(const hir_instruction& h, const ast_instruction& i, const matrix_form& form) {
  using isa::dtype;
  if (form.m != 8 || form.n != 8 || form.types != 1 || form.type[0] != dtype::b16 || form.space == state_space::global)
    code_.fail(i.where, "unsupported type or form of instruction '" + i.mnemonic() + "'");
  const expansion steps(code_, h);
  steps.require();
  if (i.operands.size() != 2) code_.fail(i.where, "'" + i.mnemonic() + "' needs an address and registers");
  hir_instruction store = in_place_of(h, ptx_op::st, dtype::b32, {}, {});
  store.m.space = form.space;
  in_.address(store, i.operands[0]);
  std::vector<value> data;
  in_.elements(i.operands[1], dtype::b32, data, false, i.operands[1].where);
  if (data.size() != form.count)
    code_.fail(i.operands[1].where, "'" + i.mnemonic() + "' needs " + std::to_string(form.count) + " registers");
  for (const value& d : data) checker_.check_type(d, dtype::b32, false, i.operands[1].where);
  const value base = form.space == state_space::shared ? store.src[0] : shared_address(h, steps, store.src[0]);
  store.m.space = state_space::shared;
  constexpr std::uint8_t indexed = 3;  // shfl.idx
  const value lane = steps.make(ptx_op::s2r, dtype::u32, {}, static_cast<std::uint8_t>(isa::special::laneid));
  const value row = steps.make(ptx_op::shr, dtype::u32, {lane, immediate_value(2)});
  const value column = steps.make(
      ptx_op::shl, dtype::b32, {steps.make(ptx_op::and_, dtype::b32, {lane, immediate_value(3)}), immediate_value(2)});
  for (unsigned k = 0; k < form.count; ++k) {
    const value from = k == 0 ? row : steps.make(ptx_op::add, dtype::u32, {row, immediate_value(8 * k)});
    const value start =
        steps.make(ptx_op::shfl, dtype::b32, {base, from, immediate_value(31), immediate_value(0xffffffffu)}, indexed);
    hir_instruction one = store;
    one.src = {steps.make(ptx_op::add, dtype::u32, {start, column}),
               form.transposed ? steps.make(ptx_op::movmatrix, dtype::b32, {data[k]}) : data[k]};
    one.guard = h.guard;
    code_.append(std::move(one));
  }
}

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/translate/resolver.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

namespace heddle::ptx {

namespace {

/// Instructions of PTX that no modelled chip has, or that the lowering does not support.
bool is_not_modelled(std::string_view word) {
  constexpr std::string_view words[] = {"clusterlaunchcontrol", "istypep", "multimem", "sured", "tcgen05"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool has_parts(const ast_instruction& i) {
  return std::any_of(i.operands.begin(), i.operands.end(), [](const ast_operand& o) { return !o.component.empty(); });
}

/// True for accesses that may be to shared memory of another block of the cluster.
bool leaves_block(const hir_instruction& h) {
  const bool copies = h.op == ptx_op::cp && h.source->has("shared::cluster") && h.source->has("shared::cta");
  return h.op == ptx_op::mapa || h.m.any_block || h.m.signals || copies;
}

}  // namespace

resolver::resolver(const loaded_module& m, const ast_function& kernel, hir_function& out)
    : module_(m),
      kernel_(kernel),
      out_(out),
      calls_(*m.ast),
      code_(m.ast->file, kernel, out),
      places_(code_, out),
      names_(m, kernel.unit, code_, places_),
      declarations_(kernel, code_, places_, names_, uses_),
      special_(kernel, code_, places_),
      in_(code_, names_, special_),
      checker_(*m.ast, code_, names_),
      moves_(code_, in_),
      parameters_(*m.ast, kernel, code_, places_, names_, uses_, moves_, now_),
      binder_(code_, names_, uses_, declarations_, in_, checker_, moves_),
      system_(*m.ast, code_, in_, binder_),
      stack_(code_, out),
      outlined_(code_, out, places_, names_, uses_, declarations_, binder_, moves_, stack_, now_, *this),
      call_(*m.ast, kernel, calls_, code_, names_, in_, binder_, system_, outlined_, stack_, now_, *this),
      generic_(code_, in_, checker_),
      address_(m, code_, in_, special_, parameters_, generic_),
      arrival_(code_, in_),
      barrier_(code_, in_, out),
      branch_(code_, names_, in_, now_),
      copy_(code_, in_, arrival_),
      bulk_(code_, in_, std::strtod(m.ast->version.c_str(), nullptr) < 8.5),
      integer_(code_, in_, checker_),
      matrix_(m.ast->file, code_, names_, in_, checker_, out),
      memory_(code_, names_, in_, checker_, parameters_, moves_),
      move_(code_, names_, special_, in_, checker_),
      stack_instructions_(code_, in_, stack_),
      texture_(*m.ast, kernel, code_, names_, in_, checker_, out),
      video_(m.ast->file, code_, in_, checker_),
      warpgroup_(m.ast->file, code_, in_, out) {}

void resolver::run() {
  out_.blocks.emplace_back();
  out_.rolled = kernel_.no_unrolling;
  declarations_.declare_parameters();
  parameters_.copy();
  out_.parameter_copies = parameters_.copied();
  translate(kernel_.body);
  hir_instruction end;
  end.op = ptx_op::exit;
  if (!out_.blocks.back().code.empty()) end.where = out_.blocks.back().code.back().where;
  code_.append(std::move(end));
  outlined_.place_bodies();
  copy_.finish();
  code_.finish();
  places_.finish();
  stack_.finish();
}

void resolver::translate(const ast_block& b) {
  declarations_.enter_block(b);
  for (const ast_statement& s : b.statements) {
    switch (s.what) {
      case ast_statement::kind::instruction: instruction(s.instruction); break;
      case ast_statement::kind::label: code_.place_label(names_.innermost().labels.at(s.label)); break;
      case ast_statement::kind::block:
        if (s.block) translate(*s.block);
        break;
      case ast_statement::kind::no_unrolling: out_.blocks.back().rolled = true; break;
      default: break;
    }
  }
  names_.close();
}

void resolver::read_guard(hir_instruction& h, const ast_instruction& i) {
  if (i.guard.empty()) return;
  ast_operand g;
  g.text = i.guard;
  g.where = i.where;
  h.guard = in_.identifier(g, i.where);
  if (!h.guard.is_reg() || code_.registers()[h.guard.reg].words != 0)
    code_.fail(i.where, "guard '" + i.guard + "' is not a predicate register");
  h.guard.negate = i.guard_negate;
}

void resolver::instruction(const ast_instruction& i) {
  code_.start(i);
  hir_instruction h;
  h.where = i.where;
  h.source = &i;
  h.op = i.op;
  if (h.op == unknown_op && is_not_modelled(i.opcode))
    code_.fail(i.where, "instruction '" + i.mnemonic() + "' is not supported");
  if (h.op == unknown_op) code_.refuse(i.where, "unknown instruction '" + i.mnemonic() + "'");
  read_guard(h, i);
  std::vector<matched_form> forms;
  h.m = decode_modifiers(i, module_.ast->file, forms);
  out_.leaves_block = out_.leaves_block || leaves_block(h);
  if (h.op == ptx_op::brkpt) {  // there is no debugger that could resume it
    h.op = ptx_op::trap;
    h.m.sub = isa::trap_breakpoint;
  }
  const bool of_map = h.op == ptx_op::fence && i.has("acquire") && i.has("tensormap::generic");
  if (info(h.op).operands == operand_use::none && !i.operands.empty() && !of_map)
    code_.fail(i.operands[0].where, "'" + i.mnemonic() + "' takes no operands, expected ';'");
  checker_.check_operands(h, i, forms);
  if (h.m.packed_bits != 0) return integer_.packed_integers(h, i);
  dispatch(std::move(h), i);
}

/// Messages between two SMs keep their order: the bytes are there when the mbarrier is signalled. The thread waits for
/// neither.
void resolver::store_and_signal(hir_instruction h, const ast_instruction& i) {
  if (i.operands.size() != 3) code_.fail(i.where, "'" + i.mnemonic() + "' needs three operands");
  h.m.order = modifiers::order_kind::relaxed;
  memory_.translate(h, i);
  arrival_.complete(h, i.operands[2], isa::size_of(h.m.type) * h.m.vector);
}

void resolver::dispatch(hir_instruction h, const ast_instruction& i) {
  switch (info(h.op).family) {
    case op_family::memory: return h.m.signals ? store_and_signal(h, i) : memory_.translate(std::move(h), i);
    case op_family::address: return address_.translate(std::move(h), i);
    case op_family::move: return move_.translate(std::move(h), i);
    case op_family::flow: return branch_.translate(std::move(h), i);
    case op_family::call: return call_.translate(h, i);
    case op_family::barrier: return barrier_.translate(std::move(h), i);
    case op_family::matrix:
      if (h.op == ptx_op::wgmma || h.op == ptx_op::setmaxnreg) return warpgroup_.translate(std::move(h), i);
      return matrix_.translate(std::move(h), i);
    case op_family::texture: return texture_.translate(std::move(h), i);
    case op_family::copy:
      return h.m.sub >= copy_bulk || h.op == ptx_op::tensormap ? bulk_.translate(h, i) : copy_.translate(h, i);
    case op_family::arrival: return arrival_.translate(h, i);
    case op_family::stack: return stack_instructions_.translate(h, i);
    case op_family::search: return integer_.find_nth_set(h, i);
    case op_family::video: return video_.translate(h, i);
    case op_family::difference:  // for operands without selectors the chips have an instruction
      if (has_parts(i)) return video_.translate(h, i);
      return generic_.translate(std::move(h), i);
    case op_family::fence: {
      ast_instruction plain = i;  // a fence of one tensor map is one of all
      plain.operands.clear();
      return generic_.translate(std::move(h), plain);
    }
    case op_family::arithmetic:
    case op_family::bits:
    case op_family::compare:
    case op_family::function:
    case op_family::warp:
    case op_family::system:
    case op_family::hint:
    case op_family::part: return generic_.translate(std::move(h), i);
  }
}

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/translate/resolver.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/hir/operand_counts.h"

namespace heddle::ptx {

namespace {

bool has_parts(const ast_instruction& i) {
  return std::any_of(i.operands.begin(), i.operands.end(), [](const ast_operand& o) { return !o.component.empty(); });
}

/// True for accesses to shared memory of other blocks, which is only the block's own in a cluster of one block. A bulk
/// copy also uses this name for its own memory.
bool leaves_block(const ast_instruction& i, ptx_op op) {
  return op == ptx_op::mapa || (op != ptx_op::cp && std::find(i.modifiers.begin(), i.modifiers.end(),
                                                              "shared::cluster") != i.modifiers.end());
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
      checker_(*m.ast, code_, names_) {}

void resolver::run() {
  out_.blocks.emplace_back();
  out_.rolled = kernel_.no_unrolling;
  declarations_.declare_parameters();
  copy_kernel_parameters();
  call_chain_.push_back(kernel_.name);
  body(kernel_.body);
  hir_instruction end;
  end.op = ptx_op::exit;
  if (!out_.blocks.back().code.empty()) end.where = out_.blocks.back().code.back().where;
  code_.append(std::move(end));
  place_bodies();
  code_.finish();
  places_.finish();
  finish_stack();
}

void resolver::body(const ast_block& b) {
  declarations_.enter_block(b);
  for (const ast_statement& s : b.statements) {
    switch (s.what) {
      case ast_statement::kind::instruction: instruction(s.instruction); break;
      case ast_statement::kind::label: code_.place_label(names_.innermost().labels.at(s.label)); break;
      case ast_statement::kind::block:
        if (s.block) body(*s.block);
        break;
      case ast_statement::kind::no_unrolling: out_.blocks.back().rolled = true; break;
      default: break;
    }
  }
  names_.close();
}

void resolver::instruction(const ast_instruction& i) {
  code_.start(i);
  hir_instruction h;
  h.where = i.where;
  h.source = &i;
  if (!find_op(i.opcode, h.op)) code_.fail(i.where, "unknown instruction '" + i.mnemonic() + "'");
  if (!i.guard.empty()) {
    ast_operand g;
    g.text = i.guard;
    g.where = i.where;
    h.guard = in_.identifier(g, i.where);
    if (!h.guard.is_reg() || code_.registers()[h.guard.reg].words != 0)
      code_.fail(i.where, "guard '" + i.guard + "' is not a predicate register");
    h.guard.negate = i.guard_negate;
  }
  std::vector<matched_form> forms;
  h.m = decode_modifiers(i, h.op, module_.ast->file, forms);
  const std::uint32_t* blocks = kernel_.required_cluster;
  if (leaves_block(i, h.op) && std::max({blocks[0], blocks[1], blocks[2]}) > 1)
    code_.fail(i.where, "'" + i.mnemonic() + "' in a kernel for clusters of several blocks is not supported");
  if (h.op == ptx_op::brkpt) {  // there is no debugger that could resume it
    h.op = ptx_op::trap;
    h.m.sub = isa::trap_breakpoint;
  }
  if (info(h.op).operands == operand_use::none && !i.operands.empty())
    code_.fail(i.operands[0].where, "'" + i.mnemonic() + "' takes no operands, expected ';'");
  checker_.check_operands(i, forms);
  if (has_packed_integers(i)) return packed_integers(h, i);
  switch (h.op) {
    case ptx_op::ld:
    case ptx_op::ldu:
    case ptx_op::st:
    case ptx_op::atom:
    case ptx_op::red: memory_instruction(std::move(h), i); break;
    case ptx_op::wmma:
    case ptx_op::mma:
    case ptx_op::ldmatrix:
    case ptx_op::movmatrix: matrix_instruction(std::move(h), i); break;
    case ptx_op::stmatrix: store_matrices(h, i); break;
    case ptx_op::tex:
    case ptx_op::tld4:
    case ptx_op::suld:
    case ptx_op::sust:
    case ptx_op::txq:
    case ptx_op::suq: texture_instruction(std::move(h), i); break;
    case ptx_op::bra: branch(std::move(h), i); break;
    case ptx_op::brx: indirect_branch(h, i); break;
    case ptx_op::ret: return_from(std::move(h)); break;
    case ptx_op::call: call(h, i); break;
    case ptx_op::cp: asynchronous_copy(h, i); break;
    case ptx_op::video: video_instruction(h, i); break;
    case ptx_op::vabsdiff2:
    case ptx_op::vabsdiff4:  // for operands without selectors the chips have an instruction
      if (has_parts(i)) video_instruction(h, i);
      else generic_instruction(std::move(h), i);
      break;
    case ptx_op::mbarrier: arrival_barrier(std::move(h), i); break;
    case ptx_op::alloca_:
    case ptx_op::stacksave:
    case ptx_op::stackrestore: stack_instruction(std::move(h), i); break;
    case ptx_op::fns: find_nth_set(h, i); break;
    case ptx_op::mapa:
    case ptx_op::getctarank: cluster_address(std::move(h), i); break;
    case ptx_op::mov: move(std::move(h), i); break;
    case ptx_op::bar:
    case ptx_op::barrier: barrier(std::move(h), i); break;
    case ptx_op::cvta:
    case ptx_op::isspacep:
      if (h.m.space == state_space::constant) constant_address(std::move(h), i);
      else if (h.m.space == state_space::param) parameter_address(std::move(h), i);
      else generic_instruction(std::move(h), i);
      break;
    default: generic_instruction(std::move(h), i); break;
  }
}

void resolver::generic_instruction(hir_instruction h, const ast_instruction& i) {
  std::size_t k = 0;
  switch (h.op) {  // hints, and guarantees that always hold: no computation and no wait
    case ptx_op::applypriority:
    case ptx_op::discard: return checker_.check_literal(i, 1, 128, 128);
    case ptx_op::prefetch:
    case ptx_op::prefetchu:
    case ptx_op::griddepcontrol: return;
    case ptx_op::pmevent: checker_.check_literal(i, 0, 0, i.has("mask") ? 0xffff : 15); break;
    case ptx_op::createpolicy:  // its value has no effect
      if (i.operands.empty()) code_.fail(i.where, "'" + i.mnemonic() + "' without operands");
      h.op = ptx_op::mov;
      h.m.type = isa::dtype::b64;
      h.dst.push_back(in_.destination(i.operands[0], i.where));
      h.src.push_back(immediate_value(0));
      return code_.append(std::move(h));
    default: break;
  }
  if (info(h.op).operands == operand_use::result) {
    if (i.operands.empty()) code_.fail(i.where, "'" + i.mnemonic() + "' without operands");
    const ast_operand& d = i.operands[k++];
    if (d.what == ast_operand::kind::pair) {
      for (const ast_operand& e : d.list) h.dst.push_back(in_.destination(e, i.where));
    } else {
      h.dst.push_back(in_.destination(d, i.where));
    }
  }
  for (; k < i.operands.size(); ++k) h.src.push_back(in_.operand(i.operands[k], source_type(h, h.src.size()), i.where));
  if (h.op == ptx_op::isspacep && !h.src.empty()) h.src[0] = in_.wide_address(h.src[0]);
  if (h.src.size() < info(h.op).sources) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  if (h.src.size() > most_sources(h))
    code_.fail(i.operands.back().where, "'" + i.mnemonic() + "' with too many operands");
  code_.append(std::move(h));
}

void resolver::memory_instruction(hir_instruction h, const ast_instruction& i) {
  const bool reads = h.op == ptx_op::ld || h.op == ptx_op::ldu;
  const bool writes_register = reads || h.op == ptx_op::atom;
  if (i.operands.size() < 2) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const ast_operand& where = i.operands[writes_register ? 1 : 0];
  if (h.m.space == state_space::param) {
    kernel_symbol s;
    if (where.what == ast_operand::kind::address && names_.find(where.text, s) &&
        s.what == kernel_symbol::kind::words) {
      if (h.op == ptx_op::st) return store_words(h, s, where);
      return load_words(h, s, where);
    }
    if (!parameter_access(h, where) && h.op != ptx_op::ld)
      code_.fail(i.where, "'" + i.mnemonic() + "' cannot write kernel parameters");
    check_parameter_bounds(h, where);
  }
  const bool hinted = std::find(i.modifiers.begin(), i.modifiers.end(), "L2::cache_hint") != i.modifiers.end();
  if ((reads || h.op == ptx_op::st) && i.operands.size() > (hinted ? 3u : 2u))
    code_.fail(i.operands[2].where, "'" + i.mnemonic() + "' with too many operands");
  if (h.op == ptx_op::red &&
      (h.m.sub == static_cast<unsigned>(isa::atomic_op::cas) || h.m.sub == static_cast<unsigned>(isa::atomic_op::exch)))
    code_.fail(i.where, "unsupported operation in instruction '" + i.mnemonic() + "'");
  in_.address(h, where);
  if ((h.op == ptx_op::atom || h.op == ptx_op::red) && h.m.vector > 1) return vector_atomic(h, i);
  if (reads) {
    in_.elements(i.operands[0], h.m.type, h.dst, true, i.where);
    if (h.dst.size() != h.m.vector)
      code_.fail(i.operands[0].where, "'" + i.mnemonic() + "' needs as many registers as elements");
    checker_.check_element_types(h.dst, 0, h.m.type, true, i.operands[0].where);
  } else if (h.op == ptx_op::st) {
    in_.elements(i.operands[1], h.m.type, h.src, false, i.where);
    if (h.src.size() != h.m.vector + 1)
      code_.fail(i.operands[1].where, "'" + i.mnemonic() + "' needs as many registers as elements");
    checker_.check_element_types(h.src, 1, h.m.type, true, i.operands[1].where);
  } else {
    if (writes_register) h.dst.push_back(in_.destination(i.operands[0], i.where));
    for (std::size_t k = writes_register ? 2 : 1; k < i.operands.size() - hinted;
         ++k)  // the hint does not affect the model
      h.src.push_back(in_.operand(i.operands[k], h.m.type, i.where));
    const std::size_t needed = h.m.sub == static_cast<unsigned>(isa::atomic_op::cas) ? 3 : 2;
    if (h.src.size() != needed) code_.fail(i.where, "'" + i.mnemonic() + "' with the wrong number of operands");
    checker_.check_element_types(h.dst, 0, h.m.type, false, i.operands[0].where);
    checker_.check_element_types(h.src, 1, h.m.type, false, i.where);
  }
  access(std::move(h));
}

void resolver::move(hir_instruction h, const ast_instruction& i) {
  if (i.operands.size() != 2) code_.fail(i.where, "'" + i.mnemonic() + "' needs two operands");
  const ast_operand& d = i.operands[0];
  const ast_operand& s = i.operands[1];
  kernel_symbol named;
  const auto is_vector = [&](const ast_operand& o) {
    return o.what == ast_operand::kind::vector ||
           (o.what == ast_operand::kind::identifier && o.component.empty() && names_.find(o.text, named) &&
            named.what == kernel_symbol::kind::components);
  };
  const bool from = is_vector(s), to = is_vector(d);
  if (h.m.vector > 1) return move_elements(std::move(h), d, s);
  if (from && to) code_.fail(i.where, "vector moves between vectors are not supported in '" + i.mnemonic() + "'");
  if (from) h.op = ptx_op::pack;
  if (to) h.op = ptx_op::unpack;
  in_.elements(d, h.m.type, h.dst, true, i.where);
  in_.elements(s, h.m.type, h.src, false, i.where);
  if (!from && s.what == ast_operand::kind::identifier && !names_.find(s.text, named)) special_.check_special(h, s);
  code_.append(std::move(h));
}

// mov.v2, mov.v4: all elements are read before the first is written.
void resolver::move_elements(hir_instruction h, const ast_operand& d, const ast_operand& s) {
  const unsigned count = h.m.vector;
  std::vector<value> from, to;
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

void resolver::barrier(hir_instruction h, const ast_instruction& i) {
  if (h.m.uniform) {  // bar.warp.sync: its membermask is for hardware with independent progress of lanes
    for (const ast_operand& o : i.operands) h.src.push_back(in_.operand(o, isa::dtype::u32, i.where));
    code_.append(std::move(h));
    return;
  }
  std::size_t k = 0;
  if (h.m.sub >= 2) {
    if (i.operands.size() < 3) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
    h.dst.push_back(in_.destination(i.operands[k++], i.where));
  }
  for (; k < i.operands.size(); ++k) h.src.push_back(in_.operand(i.operands[k], isa::dtype::u32, i.where));
  if (h.src.empty()) code_.fail(i.where, "'" + i.mnemonic() + "' needs a barrier number");
  if (h.m.sub == 1 && h.src.size() != 2)
    code_.fail(i.where, "'" + i.mnemonic() + "' needs a barrier number and a thread count");
  const value& number = h.src[0];
  if (number.is_immediate() && number.bits > 15)
    code_.fail(i.where,
               "barrier number " + std::to_string(static_cast<std::int64_t>(number.bits)) + ", expected 0 to 15");
  const bool counts = h.src.size() > (h.m.sub >= 2 ? 2u : 1u);  // the last source of a reduction is its predicate
  if (counts && h.src[1].is_immediate() && (h.src[1].bits % 32 != 0 || (h.m.sub == 1 && h.src[1].bits == 0)))
    code_.fail(i.where, "thread count " + std::to_string(static_cast<std::int64_t>(h.src[1].bits)) + " of '" +
                            i.mnemonic() + "', expected a multiple of 32");
  out_.barriers = std::max(out_.barriers, number.is_immediate() ? static_cast<std::uint32_t>(number.bits) + 1 : 16u);
  code_.append(std::move(h));
}

// Generic addresses of constants refer to the constant image in device memory.
void resolver::constant_address(hir_instruction h, const ast_instruction& i) {
  const bool tests = h.op == ptx_op::isspacep, narrow = !tests && isa::size_of(h.m.type) == 4;
  if (i.operands.size() != 2 || (narrow && module_.constant_base >> 32 != 0))
    code_.fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "'");
  if (module_.constant_base == 0) code_.fail(i.where, "'" + i.mnemonic() + "' in a module without constant variables");
  const value base = immediate_value(module_.constant_base);
  const value d = in_.destination(i.operands[0], i.where),
              a = tests ? in_.wide_address(in_.operand(i.operands[1], isa::dtype::u64, i.where))
                        : in_.operand(i.operands[1], isa::dtype::u64, i.where);
  const bool adds = !tests && !h.m.to;
  h.op = adds ? ptx_op::add : ptx_op::sub;
  h.m = {};
  h.m.type = narrow ? isa::dtype::u32 : isa::dtype::u64;
  h.m.types = 1;
  h.dst = {tests ? register_value(code_.new_register(2, 64)) : d};
  h.src = {a, base};
  if (!tests) return code_.append(std::move(h));
  hir_instruction inside = h;
  h.guard = {};
  inside.op = ptx_op::setp;
  inside.m.cmp = isa::compare::lt;
  inside.dst = {d};
  inside.src = {h.dst[0], immediate_value(module_.constant_image.size())};
  code_.append(std::move(h));
  code_.append(std::move(inside));
}

}  // namespace heddle::ptx

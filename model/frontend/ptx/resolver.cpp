// SPDX-License-Identifier: MIT
#include "frontend/ptx/resolver.h"

#include <algorithm>

#include "config/error.h"
#include "frontend/ptx/control_flow.h"

namespace heddle::ptx {

namespace {

constexpr std::uint8_t dynamic_shared_bank = 0xfe;
constexpr std::size_t largest_expansion = 2'000'000;   // PTX instructions after calls are put in place

bool writes_nothing(ptx_op op) {
  switch (op) {
    case ptx_op::membar:
    case ptx_op::fence:
    case ptx_op::nanosleep:
    case ptx_op::pmevent:
    case ptx_op::prefetch:
    case ptx_op::prefetchu:
    case ptx_op::trap: return true;
    default: return false;
  }
}

bool takes_no_operands(ptx_op op) {
  return op == ptx_op::ret || op == ptx_op::exit || op == ptx_op::trap || op == ptx_op::membar || op == ptx_op::fence;
}

/// Sources that an instruction of generic_instruction() has at least.
std::size_t least_sources(ptx_op op) {
  switch (op) {
    case ptx_op::bfi:
    case ptx_op::lop3: return 4;
    case ptx_op::bfe:
    case ptx_op::dp2a:
    case ptx_op::dp4a:
    case ptx_op::fma:
    case ptx_op::mad:
    case ptx_op::mad24:
    case ptx_op::madc:
    case ptx_op::prmt:
    case ptx_op::sad:
    case ptx_op::selp:
    case ptx_op::shf:
    case ptx_op::shfl:
    case ptx_op::slct: return 3;
    case ptx_op::add:
    case ptx_op::addc:
    case ptx_op::and_:
    case ptx_op::bmsk:
    case ptx_op::copysign:
    case ptx_op::div:
    case ptx_op::match:
    case ptx_op::max:
    case ptx_op::min:
    case ptx_op::mul:
    case ptx_op::mul24:
    case ptx_op::or_:
    case ptx_op::redux:
    case ptx_op::rem:
    case ptx_op::set:
    case ptx_op::setp:
    case ptx_op::shl:
    case ptx_op::shr:
    case ptx_op::sub:
    case ptx_op::subc:
    case ptx_op::szext:
    case ptx_op::vabsdiff2:
    case ptx_op::vabsdiff4:
    case ptx_op::xor_: return 2;
    case ptx_op::activemask:
    case ptx_op::exit:
    case ptx_op::fence:
    case ptx_op::membar:
    case ptx_op::trap:
    case ptx_op::s2r: return 0;
    default: return 1;
  }
}

std::size_t most_sources(const hir_instruction& h) {
  switch (h.op) {
    case ptx_op::set:
    case ptx_op::setp: return h.m.combines ? 3 : 2;
    case ptx_op::vabsdiff2:
    case ptx_op::vabsdiff4: return 3;
    case ptx_op::shfl: return 4;   // with a member mask
    case ptx_op::vote: return 2;
    case ptx_op::cvt:   // two into one register
      return h.m.type2 == isa::dtype::f32 && (h.m.type == isa::dtype::f16x2 || h.m.type == isa::dtype::bf16x2 || h.m.type == isa::dtype::e4m3x2 ||
                                              h.m.type == isa::dtype::e5m2x2) ? 2 : 1;
    default: return least_sources(h.op);
  }
}

/// Whether saturation has a meaning: to [0, 1] for floats that have it, to the range of s32 for sums of those.
bool may_saturate(const hir_instruction& h) {
  const isa::dtype t = h.m.type;
  if (h.op == ptx_op::cvt || h.op == ptx_op::vabsdiff2 || h.op == ptx_op::vabsdiff4) return true;
  if (t == isa::dtype::f32 || t == isa::dtype::f32x2 || t == isa::dtype::f16 || t == isa::dtype::f16x2) return true;
  return t == isa::dtype::s32 && (h.op == ptx_op::add || h.op == ptx_op::sub || h.op == ptx_op::mad || h.op == ptx_op::mad24);
}

bool has_parts(const ast_instruction& i) {
  return std::any_of(i.operands.begin(), i.operands.end(), [](const ast_operand& o) { return !o.component.empty(); });
}

/// Shared memory of other blocks, which is the own one in a cluster of one block only. A bulk copy names its own so, too.
bool leaves_block(const ast_instruction& i, ptx_op op) {
  return op == ptx_op::mapa || (op != ptx_op::cp && std::find(i.modifiers.begin(), i.modifiers.end(), "shared::cluster") != i.modifiers.end());
}

/// Type of the k-th source, for literals.
isa::dtype source_type(const hir_instruction& h, std::size_t k) {
  switch (h.op) {
    case ptx_op::cvt: return h.m.type2;
    case ptx_op::set: return h.m.type2;
    case ptx_op::slct: return k == 2 ? h.m.type2 : h.m.type;
    case ptx_op::selp: return k == 2 ? isa::dtype::pred : h.m.type;
    case ptx_op::testp: return h.m.type;
    default: return h.m.type;
  }
}

}  // namespace

resolver::resolver(const loaded_module& m, const ast_function& kernel, hir_function& out) : module_(m), kernel_(kernel), out_(out), calls_(*m.ast) {}

void resolver::run() {
  out_.blocks.emplace_back();
  declare_parameters();
  copy_kernel_parameters();
  call_chain_.push_back(kernel_.name);
  body(kernel_.body);
  hir_instruction end;
  end.op = ptx_op::exit;
  if (!out_.blocks.back().code.empty()) end.where = out_.blocks.back().code.back().where;
  append(std::move(end));
  place_bodies();
  finish();
  finish_stack();
}

std::uint32_t resolver::new_label() {
  label_blocks_.push_back(no_node);
  return static_cast<std::uint32_t>(label_blocks_.size() - 1);
}

void resolver::place_label(std::uint32_t label) {
  if (!out_.blocks.back().code.empty()) out_.blocks.emplace_back();
  label_blocks_[label] = static_cast<std::uint32_t>(out_.blocks.size() - 1);
}

void resolver::append(hir_instruction h) {
  if (h.source == nullptr) h.source = current_;
  if (h.where.line == 0 && current_) h.where = current_->where;
  if (++instructions_ > largest_expansion) fail(h.where, "the kernel is too large once its calls are expanded");
  const bool ends = h.op == ptx_op::bra || ((h.op == ptx_op::exit || h.op == ptx_op::trap) && h.guard.what == value::kind::none);
  out_.blocks.back().code.push_back(std::move(h));
  if (ends) out_.blocks.emplace_back();
}

void resolver::body(const ast_block& b) {
  enter_block(b);
  for (const ast_statement& s : b.statements) {
    switch (s.what) {
      case ast_statement::kind::instruction: instruction(s.instruction); break;
      case ast_statement::kind::label: place_label(scopes_.back().labels.at(s.label)); break;
      case ast_statement::kind::block:
        if (s.block) body(*s.block);
        break;
      default: break;
    }
  }
  scopes_.pop_back();
}

void resolver::instruction(const ast_instruction& i) {
  current_ = &i;
  hir_instruction h;
  h.where = i.where;
  h.source = &i;
  if (!find_op(i.opcode, h.op)) fail(i.where, "unknown instruction '" + i.mnemonic() + "'");
  if (!i.guard.empty()) {
    ast_operand g;
    g.text = i.guard;
    g.where = i.where;
    h.guard = identifier(g, i.where);
    if (!h.guard.is_reg() || out_.registers[h.guard.reg].words != 0) fail(i.where, "guard '" + i.guard + "' is not a predicate register");
    h.guard.negate = i.guard_negate;
  }
  h.m = decode_modifiers(i, h.op, module_.ast->file);
  const std::uint32_t* blocks = kernel_.required_cluster;
  if (leaves_block(i, h.op) && std::max({blocks[0], blocks[1], blocks[2]}) > 1)
    fail(i.where, "'" + i.mnemonic() + "' in a kernel for clusters of several blocks is not supported");
  if (h.op == ptx_op::brkpt) {   // there is no debugger to go on with
    h.op = ptx_op::trap;
    h.m.sub = isa::trap_breakpoint;
  }
  if (takes_no_operands(h.op) && !i.operands.empty()) fail(i.operands[0].where, "'" + i.mnemonic() + "' takes no operands, expected ';'");
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
    case ptx_op::vabsdiff4:   // the chips have it for operands without selectors
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
  switch (h.op) {   // hints, and what holds anyway: nothing to compute, nothing to wait for
    case ptx_op::prefetch:
    case ptx_op::prefetchu:
    case ptx_op::applypriority:
    case ptx_op::discard:
    case ptx_op::griddepcontrol: return;
    case ptx_op::createpolicy:   // no value of it changes anything
      if (i.operands.empty()) fail(i.where, "'" + i.mnemonic() + "' without operands");
      h.op = ptx_op::mov;
      h.m.type = isa::dtype::b64;
      h.dst.push_back(destination(i.operands[0], i.where));
      h.src.push_back(immediate_value(0));
      return append(std::move(h));
    default: break;
  }
  if (h.op != ptx_op::exit && !writes_nothing(h.op)) {
    if (i.operands.empty()) fail(i.where, "'" + i.mnemonic() + "' without operands");
    const ast_operand& d = i.operands[k++];
    if (d.what == ast_operand::kind::pair) {
      for (const ast_operand& e : d.list) h.dst.push_back(destination(e, i.where));
    } else {
      h.dst.push_back(destination(d, i.where));
    }
  }
  for (; k < i.operands.size(); ++k) h.src.push_back(operand(i.operands[k], source_type(h, h.src.size()), i.where));
  if (h.src.size() < least_sources(h.op)) fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  if (h.src.size() > most_sources(h)) fail(i.operands.back().where, "'" + i.mnemonic() + "' with too many operands");
  if (h.m.saturate && !may_saturate(h)) fail(i.where, "unsupported modifier '.sat' in instruction '" + i.mnemonic() + "'");
  check_types(h, i);
  append(std::move(h));
}

void resolver::memory_instruction(hir_instruction h, const ast_instruction& i) {
  const bool reads = h.op == ptx_op::ld || h.op == ptx_op::ldu;
  const bool writes_register = reads || h.op == ptx_op::atom;
  if (i.operands.size() < 2) fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const ast_operand& where = i.operands[writes_register ? 1 : 0];
  if (h.m.space == state_space::param) {
    symbol s;
    if (where.what == ast_operand::kind::address && find(where.text, s) && s.what == symbol::kind::words) {
      if (h.op == ptx_op::st) return store_words(h, s, where);
      return load_words(h, s, where);
    }
    if (!parameter_access(h, where) && h.op != ptx_op::ld) fail(i.where, "'" + i.mnemonic() + "' cannot write kernel parameters");
  }
  const bool hinted = std::find(i.modifiers.begin(), i.modifiers.end(), "L2::cache_hint") != i.modifiers.end();
  if ((reads || h.op == ptx_op::st) && i.operands.size() > (hinted ? 3u : 2u)) fail(i.operands[2].where, "'" + i.mnemonic() + "' with too many operands");
  if (h.op == ptx_op::red && (h.m.sub == static_cast<unsigned>(isa::atomic_op::cas) || h.m.sub == static_cast<unsigned>(isa::atomic_op::exch)))
    fail(i.where, "unsupported operation in instruction '" + i.mnemonic() + "'");
  address(h, where);
  if ((h.op == ptx_op::atom || h.op == ptx_op::red) && h.m.vector > 1) return vector_atomic(h, i);
  if (reads) {
    elements(i.operands[0], h.m.type, h.dst, true, i.where);
    if (h.dst.size() != h.m.vector) fail(i.operands[0].where, "'" + i.mnemonic() + "' needs as many registers as elements");
    check_element_types(h.dst, 0, h.m.type, true, i.operands[0].where);
  } else if (h.op == ptx_op::st) {
    elements(i.operands[1], h.m.type, h.src, false, i.where);
    if (h.src.size() != h.m.vector + 1) fail(i.operands[1].where, "'" + i.mnemonic() + "' needs as many registers as elements");
    check_element_types(h.src, 1, h.m.type, true, i.operands[1].where);
  } else {
    if (writes_register) h.dst.push_back(destination(i.operands[0], i.where));
    for (std::size_t k = writes_register ? 2 : 1; k < i.operands.size(); ++k)
      h.src.push_back(operand(i.operands[k], h.m.type, i.where));
    const std::size_t needed = h.m.sub == static_cast<unsigned>(isa::atomic_op::cas) ? 3 : 2;
    if (h.src.size() != needed) fail(i.where, "'" + i.mnemonic() + "' with the wrong number of operands");
    check_element_types(h.dst, 0, h.m.type, false, i.operands[0].where);
    check_element_types(h.src, 1, h.m.type, false, i.where);
  }
  append(std::move(h));
}

void resolver::branch(hir_instruction h, const ast_instruction& i) {
  if (i.operands.size() != 1 || i.operands[0].what != ast_operand::kind::identifier) fail(i.where, "'bra' needs a label");
  h.target = find_label(i.operands[0].text, i.operands[0].where);
  append(std::move(h));
}

void resolver::indirect_branch(const hir_instruction& h, const ast_instruction& i) {
  symbol s;
  if (i.operands.size() != 2 || !find(i.operands[1].text, s) || s.what != symbol::kind::prototype || !s.targets)
    fail(i.where, "'brx.idx' needs an index and the name of a .branchtargets list");
  if (h.guard.what != value::kind::none) fail(i.where, "a guarded 'brx.idx' is not supported");
  const value index = operand(i.operands[0], isa::dtype::u32, i.where);
  const std::vector<std::string>& targets = s.targets->targets;
  // The machine compares and branches; the last target needs no test, as an index beyond the list is undefined.
  for (std::size_t k = 0; k < targets.size(); ++k) {
    hir_instruction jump = h;
    jump.op = ptx_op::bra;
    jump.m = {};
    jump.target = find_label(targets[k], i.where);
    if (k + 1 < targets.size()) {
      hir_instruction test = h;
      test.op = ptx_op::setp;
      test.m = {};
      test.m.type = isa::dtype::u32;
      test.m.types = 1;
      test.m.cmp = isa::compare::eq;
      test.dst = {register_value(out_.new_register(0, 1))};
      test.src = {index, immediate_value(k)};
      jump.guard = test.dst[0];
      append(std::move(test));
    }
    append(std::move(jump));
  }
}

void resolver::move(hir_instruction h, const ast_instruction& i) {
  if (i.operands.size() != 2) fail(i.where, "'" + i.mnemonic() + "' needs two operands");
  const ast_operand& d = i.operands[0];
  const ast_operand& s = i.operands[1];
  symbol named;
  const auto is_vector = [&](const ast_operand& o) {
    return o.what == ast_operand::kind::vector || (o.what == ast_operand::kind::identifier && o.component.empty() &&
                                                   find(o.text, named) && named.what == symbol::kind::components);
  };
  const bool from = is_vector(s), to = is_vector(d);
  if (from && to) fail(i.where, "vector moves between vectors are not supported in '" + i.mnemonic() + "'");
  if (from) h.op = ptx_op::pack;
  if (to) h.op = ptx_op::unpack;
  elements(d, h.m.type, h.dst, true, i.where);
  elements(s, h.m.type, h.src, false, i.where);
  if (!from && !to) check_types(h, i);
  append(std::move(h));
}

void resolver::barrier(hir_instruction h, const ast_instruction& i) {
  if (h.m.uniform) {   // bar.warp.sync: its membermask is for hardware that lets the lanes of a warp run apart
    for (const ast_operand& o : i.operands) h.src.push_back(operand(o, isa::dtype::u32, i.where));
    append(std::move(h));
    return;
  }
  std::size_t k = 0;
  if (h.m.sub >= 2) {
    if (i.operands.size() < 3) fail(i.where, "'" + i.mnemonic() + "' with too few operands");
    h.dst.push_back(destination(i.operands[k++], i.where));
  }
  for (; k < i.operands.size(); ++k) h.src.push_back(operand(i.operands[k], isa::dtype::u32, i.where));
  if (h.src.empty() && h.m.sub != 0) fail(i.where, "'" + i.mnemonic() + "' needs a barrier number");
  if (h.m.sub == 1 && h.src.size() != 2) fail(i.where, "'" + i.mnemonic() + "' needs a barrier number and a thread count");
  if (h.src.empty()) h.src.push_back(immediate_value(0));
  const value& number = h.src[0];
  if (number.is_immediate() && number.bits > 15) fail(i.where, "barrier number " + std::to_string(number.bits) + ", expected 0 to 15");
  out_.barriers = std::max(out_.barriers, number.is_immediate() ? static_cast<std::uint32_t>(number.bits) + 1 : 16u);
  append(std::move(h));
}

// Generic addresses of constants are those of their image in device memory.
void resolver::constant_address(hir_instruction h, const ast_instruction& i) {
  const bool tests = h.op == ptx_op::isspacep;
  if (i.operands.size() != 2 || (!tests && isa::size_of(h.m.type) != 8)) fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "'");
  if (module_.constant_base == 0) fail(i.where, "'" + i.mnemonic() + "' in a module without constant variables");
  const value base = immediate_value(module_.constant_base);
  const value d = destination(i.operands[0], i.where), a = operand(i.operands[1], isa::dtype::u64, i.where);
  const bool adds = !tests && !h.m.to;
  h.op = adds ? ptx_op::add : ptx_op::sub;
  h.m = {};
  h.m.type = isa::dtype::u64;
  h.m.types = 1;
  h.dst = {tests ? register_value(out_.new_register(2, 64)) : d};
  h.src = {a, base};
  if (!tests) return append(std::move(h));
  hir_instruction inside = h;
  h.guard = {};
  inside.op = ptx_op::setp;
  inside.m.cmp = isa::compare::lt;
  inside.dst = {d};
  inside.src = {h.dst[0], immediate_value(module_.constant_image.size())};
  append(std::move(h));
  append(std::move(inside));
}

void resolver::return_from(hir_instruction h) {
  if (call_chain_.size() > 1) {
    h.op = ptx_op::bra;
    h.target = return_label_;
  } else {
    h.op = ptx_op::exit;
  }
  append(std::move(h));
}

void resolver::finish() {
  // Labels become blocks, falling through becomes an edge, unreachable blocks vanish.
  const std::uint32_t count = static_cast<std::uint32_t>(out_.blocks.size());
  if (out_.blocks.back().code.empty()) {   // a label may stand at the very end
    hir_instruction end;
    end.op = ptx_op::exit;
    out_.blocks.back().code.push_back(std::move(end));
  }
  flow_graph g(count);
  for (std::uint32_t b = 0; b < count; ++b) {
    const std::vector<hir_instruction>& code = out_.blocks[b].code;
    const hir_instruction* last = code.empty() ? nullptr : &code.back();
    const bool guarded = last && last->guard.what != value::kind::none;
    if (last && last->op == ptx_op::bra) g[b].push_back(label_blocks_[last->target]);
    const bool ends = last && !guarded && (last->op == ptx_op::bra || last->op == ptx_op::exit || last->op == ptx_op::trap);
    if (!ends && b + 1 < count && std::find(g[b].begin(), g[b].end(), b + 1) == g[b].end()) g[b].push_back(b + 1);
  }
  std::vector<std::uint32_t> number(count, no_node);
  for (std::uint32_t b : reverse_post_order(g, 0)) number[b] = 0;
  std::uint32_t next = 0;
  for (std::uint32_t b = 0; b < count; ++b)
    if (number[b] == 0) number[b] = next++;
  std::vector<hir_block> kept(next);
  for (std::uint32_t b = 0; b < count; ++b) {
    if (number[b] == no_node) continue;
    hir_block& k = kept[number[b]];
    k.code = std::move(out_.blocks[b].code);
    for (std::uint32_t s : g[b]) k.successors.push_back(number[s]);
    if (k.code.empty() || k.code.back().op != ptx_op::bra) continue;
    hir_instruction& last = k.code.back();
    last.target = number[label_blocks_[last.target]];
    if (last.return_block != isa::no_target) last.return_block = number[label_blocks_[last.return_block]];
  }
  out_.blocks = std::move(kept);

  const std::uint32_t align = std::max(dynamic_shared_align_, 1u);
  if (dynamic_shared_align_) out_.shared_bytes = (out_.shared_bytes + align - 1) / align * align;
  for (hir_block& b : out_.blocks)
    for (hir_instruction& h : b.code)
      for (value& v : h.src)
        if (v.what == value::kind::constant && v.bank == dynamic_shared_bank) v = immediate_value(out_.shared_bytes + v.bits);
}

}  // namespace heddle::ptx

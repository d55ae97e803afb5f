// SPDX-License-Identifier: MIT
#include "heddle/config/error.h"
#include "heddle/frontend/ptx/select/selector.h"

namespace heddle::ptx {

namespace {

constexpr std::size_t most_machine_instructions = 800'000;  // per kernel, before register allocation

}  // namespace

bool has_side_effect(const machine_instruction& i) {
  using isa::effect_kind;
  switch (isa::info(i.base.op).effect) {
    case effect_kind::none: return false;
    case effect_kind::order:
    case effect_kind::write: return true;
    case effect_kind::if_volatile: return i.base.cache == isa::cache_op::volatile_;
    case effect_kind::if_clock: return isa::is_clock(static_cast<isa::special>(i.base.sub));
  }
  return false;
}

selector::selector(const hir_function& f, const gpu_config& gpu, const std::string& file)
    : f_(f),
      gpu_(gpu),
      file_(file),
      imad_(gpu.integer.multiplier != choice::multiplier::xmad),
      definitions_(f.registers.size(), nullptr) {
  out_.registers = f.registers;
  out_.local_bytes = f.local_bytes;
  for (const hir_block& b : f.blocks)
    for (const hir_instruction& h : b.code)
      for (const value& d : h.dst)
        if (d.is_reg()) definitions_[d.reg] = &h;
}

machine_function selector::run() {
  out_.blocks.resize(f_.blocks.size());
  carry_ = out_.new_register(0);
  out_.registers[carry_].temporary = false;
  std::size_t before = 0;
  for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
    block_ = &out_.blocks[b];
    block_->successors = f_.blocks[b].successors;
    for (const hir_instruction& h : f_.blocks[b].code) {
      select(h);
      if (before + block_->code.size() > most_machine_instructions)
        fail("the kernel is too large, expected at most " + std::to_string(most_machine_instructions) +
             " machine instructions");
    }
    before += block_->code.size();
  }
  check_unused();
  return std::move(out_);
}

/// Checks unused instructions as if their results were used: errors must not depend on that.
void selector::check_unused() {
  const std::size_t registers = out_.registers.size();
  machine_block nowhere;
  block_ = &nowhere;
  for (const hir_instruction& h : f_.unused) {
    if (h.op == ptx_op::save || h.op == ptx_op::restore) continue;  // not instructions of the program
    select(h);
    nowhere.code.clear();
    out_.registers.resize(registers);
    lane_places_ = {};
  }
}

void selector::fail(const std::string& what) const {
  throw input_error(file_, now_->where.line, now_->where.column, what);
}

void selector::unsupported() const {
  fail("unsupported type or form of instruction '" + now_->source->mnemonic() + "'");
}

void selector::require_fp64() const {
  if (gpu_.fp64.lanes == 0)
    fail("instruction '" + now_->source->mnemonic() + "' needs double precision, which compute capability " +
         gpu_.gpu.compute_capability + " (" + gpu_.gpu.name + ") does not have");
}

bool selector::has_capability(unsigned major, unsigned minor) const {
  unsigned number[2] = {0, 0}, at = 0;
  for (const char c : gpu_.gpu.compute_capability) {
    if (c == '.') at = 1;
    else if (c >= '0' && c <= '9' && number[at] < 1000) number[at] = number[at] * 10 + static_cast<unsigned>(c - '0');
  }
  return number[0] > major || (number[0] == major && number[1] >= minor);
}

void selector::require_capability(unsigned major, unsigned minor) const {
  if (has_capability(major, minor)) return;
  fail("instruction '" + now_->source->mnemonic() + "' needs compute capability " + std::to_string(major) + "." +
       std::to_string(minor) + ", the GPU (" + gpu_.gpu.name + ") has " + gpu_.gpu.compute_capability);
}

register_part selector::temp(unsigned words) { return {out_.new_register(words), 0, static_cast<std::uint8_t>(words)}; }

std::uint32_t selector::temp_predicate() { return out_.new_register(0); }

bool selector::is_temporary(std::uint32_t reg) const { return reg != no_register && out_.registers[reg].temporary; }

machine_instruction& selector::put(opcode op, register_part d, std::initializer_list<operand> sources) {
  machine_instruction i;
  i.base.op = op;
  i.base.line = now_->where.line;
  i.base.column = now_->where.column;
  i.dst = d;
  i.base.dst_count = d.count;
  std::size_t k = 0;
  for (const operand& o : sources) i.src[k++] = o;
  if (now_->guard.what != value::kind::none && !is_temporary(d.reg)) i.guard = {now_->guard.reg, now_->guard.negate};
  block_->code.push_back(i);
  return block_->code.back();
}

machine_instruction& selector::put_predicate(opcode op, std::uint32_t p, std::initializer_list<operand> sources) {
  machine_instruction& i = put(op, {no_register, 0, 0}, sources);
  i.pdst[0] = p;
  if (is_temporary(p)) i.guard = {};
  return i;
}

void selector::select(const hir_instruction& h) {
  now_ = &h;
  const dtype t = h.m.type;
  const bool real = isa::is_float(t);
  if ((t == dtype::f64 || h.m.type2 == dtype::f64) && h.op != ptx_op::mov && h.op != ptx_op::ld && h.op != ptx_op::st &&
      h.op != ptx_op::selp && h.op != ptx_op::pack && h.op != ptx_op::unpack)
    require_fp64();
  const bool pair = t == dtype::f32x2, eighths = t == dtype::e4m3x2 || t == dtype::e5m2x2;
  if ((pair && h.op != ptx_op::add && h.op != ptx_op::sub && h.op != ptx_op::mul && h.op != ptx_op::fma) ||
      (eighths && h.op != ptx_op::cvt))
    unsupported();
  switch (h.op) {
    case ptx_op::add:
    case ptx_op::sub: return real ? float_arithmetic() : h.m.carry_out ? add_sub_carry() : add_sub();
    case ptx_op::addc:
    case ptx_op::subc: return add_sub_carry();
    case ptx_op::mul: return real ? float_arithmetic() : multiply();
    case ptx_op::mad: return real ? float_arithmetic() : h.m.carry_out ? carry_chain_multiply() : multiply();
    case ptx_op::madc: return carry_chain_multiply();
    case ptx_op::fma: return float_arithmetic();
    case ptx_op::mul24:
    case ptx_op::mad24: return multiply_24();
    case ptx_op::and_: return t == dtype::pred ? predicate_logic() : logic(0xc0);
    case ptx_op::or_: return t == dtype::pred ? predicate_logic() : logic(0xfc);
    case ptx_op::xor_: return t == dtype::pred ? predicate_logic() : logic(0x3c);
    case ptx_op::not_: return t == dtype::pred ? predicate_logic() : logic(0x0f);
    case ptx_op::cnot: return logic(0);
    case ptx_op::lop3: return logic(0);
    case ptx_op::shl:
    case ptx_op::shr: return shift();
    case ptx_op::min:
    case ptx_op::max: return real ? float_min_max() : min_max();
    case ptx_op::abs:
    case ptx_op::neg: return real ? float_sign() : absolute_negate();
    case ptx_op::setp: return set_predicate();
    case ptx_op::set: return set_value();
    case ptx_op::selp: return select_value();
    case ptx_op::slct: return select_by_sign();
    case ptx_op::cvt: return convert();
    case ptx_op::div:
    case ptx_op::rem: return divide();
    case ptx_op::rcp: return reciprocal();
    case ptx_op::sqrt: return square_root();
    case ptx_op::mov: return move();
    case ptx_op::ld:
    case ptx_op::ldu: return load();
    case ptx_op::st: return store();
    default: return select_rest(h);
  }
}

void selector::select_rest(const hir_instruction& h) {
  switch (h.op) {
    case ptx_op::bra: {
      machine_instruction& i = put(opcode::bra, {no_register, 0, 0}, {});
      i.target_block = h.target;
      i.return_block = h.return_block;
      i.base.uniform = h.m.uniform;
      return;
    }
    case ptx_op::exit: put(opcode::exit, {no_register, 0, 0}, {}); return;
    case ptx_op::cp:
    case ptx_op::mbarrier: return require_capability(8);
    case ptx_op::stmatrix: return require_capability(9);  // all others are separate instructions
    case ptx_op::elect: return elect();
    case ptx_op::vabsdiff2:
    case ptx_op::vabsdiff4: return video_difference();
    case ptx_op::trap: return trap();
    case ptx_op::system_call: return system_call();
    case ptx_op::pmevent: put(opcode::nop, {no_register, 0, 0}, {}); return;
    case ptx_op::nanosleep: put(opcode::nanosleep, {no_register, 0, 0}, {src(0)}); return;
    case ptx_op::s2r: put(opcode::s2r, dst(), {}).base.sub = h.m.sub; return;
    case ptx_op::pack: return pack();
    case ptx_op::unpack: return unpack();
    case ptx_op::bfe: return bit_field_extract();
    case ptx_op::bfi: return bit_field_insert();
    case ptx_op::bmsk:
    case ptx_op::szext: return mask_bits();
    case ptx_op::popc:
    case ptx_op::brev: return count_bits();
    case ptx_op::clz:
    case ptx_op::bfind: return find_leading();
    case ptx_op::prmt: return permute();
    case ptx_op::shf: return funnel();
    case ptx_op::dp4a:
    case ptx_op::dp2a: return dot_product();
    case ptx_op::sad: return absolute_difference();
    case ptx_op::rsqrt:
    case ptx_op::sin:
    case ptx_op::cos:
    case ptx_op::lg2:
    case ptx_op::tanh: return is_half(h.m.type) ? half_function() : special_function();
    case ptx_op::ex2: return is_half(h.m.type) ? half_function() : exponential();
    case ptx_op::copysign: return copy_sign();
    case ptx_op::testp: return test_property();
    case ptx_op::atom:
    case ptx_op::red: return atomic();
    case ptx_op::membar:
    case ptx_op::fence: return fence();
    case ptx_op::shfl: return shuffle();
    case ptx_op::match: return match();
    case ptx_op::redux: return reduce();
    case ptx_op::vote:
    case ptx_op::activemask: return vote();
    case ptx_op::bar:
    case ptx_op::barrier: return barrier();
    case ptx_op::cvta: return convert_address();
    case ptx_op::isspacep: return is_space();
    case ptx_op::mapa:
    case ptx_op::getctarank: require_capability(9); return copy(dst(), src(0));
    case ptx_op::tex:
    case ptx_op::tld4: return texture_fetch();
    case ptx_op::suld:
    case ptx_op::sust: return surface_access();
    case ptx_op::txq:
    case ptx_op::suq: return texture_question();
    case ptx_op::wmma: return wmma();
    case ptx_op::mma: return matrix_multiply();
    case ptx_op::ldmatrix: return load_matrix();
    case ptx_op::movmatrix: return transpose_matrix();
    default: unsupported();
  }
}

}  // namespace heddle::ptx

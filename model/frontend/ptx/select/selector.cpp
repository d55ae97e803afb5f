// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/selector.h"

#include <utility>

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

constexpr std::size_t most_machine_instructions = 800'000;  // per kernel, before register allocation

machine_function without_code(const hir_function& f) {
  machine_function code;
  code.registers = f.registers;
  code.local_bytes = f.local_bytes;
  return code;
}

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
      code_(without_code(f)),
      in_(f, file),
      chip_(gpu, in_),
      out_(in_, code_),
      wide_(out_),
      products_(chip_, out_, wide_),
      runs_(in_, out_),
      matrices_(in_, out_, runs_),
      fragments_(in_, out_, wide_, products_, runs_),
      integer_(in_, out_, wide_),
      bit_(in_, out_, wide_),
      multiply_(in_, out_, chip_, wide_, products_),
      float_(in_, out_, chip_),
      function_(in_, out_),
      divide_(in_, out_),
      integer_divide_(in_, out_, products_),
      convert_(in_, out_, chip_, wide_),
      compare_(in_, out_, wide_),
      memory_(in_, out_, chip_, wide_, runs_),
      warp_(in_, out_, chip_),
      move_(in_, out_, runs_),
      system_(in_, out_),
      tensor_(in_, out_, chip_, runs_, matrices_),
      wmma_(in_, out_, chip_, runs_, matrices_, fragments_),
      texture_(in_, out_, runs_) {}

machine_function selector::run() {
  code_.blocks.resize(f_.blocks.size());
  std::size_t before = 0;
  for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
    machine_block& block = code_.blocks[b];
    out_.set(block);
    block.successors = f_.blocks[b].successors;
    for (const hir_instruction& h : f_.blocks[b].code) {
      select(h);
      if (before + block.code.size() > most_machine_instructions)
        in_.fail("the kernel is too large, expected at most " + std::to_string(most_machine_instructions) +
                 " machine instructions");
    }
    before += block.code.size();
  }
  check_unused();
  return std::move(code_);
}

/// Checks unused instructions as if their results were used: errors must not depend on that.
void selector::check_unused() {
  const std::size_t registers = code_.registers.size();
  machine_block nowhere;
  out_.set(nowhere);
  for (const hir_instruction& h : f_.unused) {
    if (h.op == ptx_op::save || h.op == ptx_op::restore) continue;  // not instructions of the program
    select(h);
    nowhere.code.clear();
    code_.registers.resize(registers);
    fragments_.forget();
  }
}

/// Rejects types that the chip, or any but a few instructions, does not have.
void selector::check_types(const hir_instruction& h) const {
  const dtype t = h.m.type;
  if ((t == dtype::f64 || h.m.type2 == dtype::f64) && h.op != ptx_op::mov && h.op != ptx_op::ld && h.op != ptx_op::st &&
      h.op != ptx_op::selp && h.op != ptx_op::pack && h.op != ptx_op::unpack)
    chip_.require_fp64();
  const bool pair = t == dtype::f32x2, eighths = t == dtype::e4m3x2 || t == dtype::e5m2x2;
  if ((pair && h.op != ptx_op::add && h.op != ptx_op::sub && h.op != ptx_op::mul && h.op != ptx_op::fma) ||
      (eighths && h.op != ptx_op::cvt))
    in_.unsupported();
}

void selector::select(const hir_instruction& h) {
  in_.set(h);
  check_types(h);
  switch (info(h.op).family) {
    case op_family::arithmetic: return select_arithmetic(h);
    case op_family::bits: return select_bits(h);
    case op_family::compare: return select_comparison(h.op);
    case op_family::function: return select_function(h);
    case op_family::warp:
    case op_family::barrier: return select_warp(h.op);
    case op_family::memory:
    case op_family::fence:
    case op_family::address: return select_memory(h.op);
    case op_family::move:
    case op_family::part: return select_move(h);
    case op_family::matrix: return select_matrix(h.op);
    case op_family::texture: return select_texture(h.op);
    case op_family::flow:
    case op_family::system: return select_flow(h);
    case op_family::difference: return integer_.video_difference();
    case op_family::copy:
    case op_family::arrival: return chip_.require_capability(8);  // their steps are instructions of their own
    default: in_.unsupported();
  }
}

void selector::select_arithmetic(const hir_instruction& h) {
  const bool real = isa::is_float(h.m.type);
  switch (h.op) {
    case ptx_op::add:
    case ptx_op::sub: return real ? float_.arithmetic() : h.m.carry_out ? integer_.add_sub_carry() : integer_.add_sub();
    case ptx_op::addc:
    case ptx_op::subc: return integer_.add_sub_carry();
    case ptx_op::mul: return real ? float_.arithmetic() : multiply_.multiply();
    case ptx_op::mad:
      return real ? float_.arithmetic() : h.m.carry_out ? multiply_.carry_chain_multiply() : multiply_.multiply();
    case ptx_op::madc: return multiply_.carry_chain_multiply();
    case ptx_op::fma: return float_.arithmetic();
    case ptx_op::mul24:
    case ptx_op::mad24: return multiply_.multiply_24();
    case ptx_op::min:
    case ptx_op::max: return real ? float_.min_max() : integer_.min_max();
    case ptx_op::abs:
    case ptx_op::neg: return real ? float_.sign() : integer_.absolute_negate();
    case ptx_op::cvt: return convert_.convert();
    case ptx_op::div:
    case ptx_op::rem: return real ? divide_.divide() : integer_divide_.divide();
    case ptx_op::rcp: return divide_.reciprocal();
    case ptx_op::sqrt: return divide_.square_root();
    case ptx_op::dp4a:
    case ptx_op::dp2a: return integer_.dot_product();
    case ptx_op::sad: return integer_.absolute_difference();
    case ptx_op::copysign: return float_.copy_sign();
    case ptx_op::testp: return float_.test_property();
    default: in_.unsupported();
  }
}

void selector::select_bits(const hir_instruction& h) {
  const bool predicates = h.m.type == dtype::pred;
  switch (h.op) {
    case ptx_op::and_: return predicates ? compare_.predicate_logic() : integer_.logic(0xc0);
    case ptx_op::or_: return predicates ? compare_.predicate_logic() : integer_.logic(0xfc);
    case ptx_op::xor_: return predicates ? compare_.predicate_logic() : integer_.logic(0x3c);
    case ptx_op::not_: return predicates ? compare_.predicate_logic() : integer_.logic(0x0f);
    case ptx_op::cnot:
    case ptx_op::lop3: return integer_.logic(0);
    case ptx_op::shl:
    case ptx_op::shr: return integer_.shift();
    case ptx_op::bfe: return bit_.bit_field_extract();
    case ptx_op::bfi: return bit_.bit_field_insert();
    case ptx_op::bmsk:
    case ptx_op::szext: return bit_.mask_bits();
    case ptx_op::popc:
    case ptx_op::brev: return bit_.count_bits();
    case ptx_op::clz:
    case ptx_op::bfind: return bit_.find_leading();
    case ptx_op::prmt: return bit_.permute();
    case ptx_op::shf: return bit_.funnel();
    default: in_.unsupported();
  }
}

void selector::select_comparison(ptx_op op) {
  switch (op) {
    case ptx_op::setp: return compare_.set_predicate();
    case ptx_op::set: return compare_.set_value();
    case ptx_op::selp: return compare_.select_value();
    case ptx_op::slct: return compare_.select_by_sign();
    default: in_.unsupported();
  }
}

void selector::select_function(const hir_instruction& h) {
  if (is_half(h.m.type)) function_.half_function();
  else if (h.op == ptx_op::ex2) function_.exponential();
  else function_.special_function();
}

void selector::select_warp(ptx_op op) {
  switch (op) {
    case ptx_op::elect: return warp_.elect();
    case ptx_op::shfl: return warp_.shuffle();
    case ptx_op::match: return warp_.match();
    case ptx_op::redux: return warp_.reduce();
    case ptx_op::vote:
    case ptx_op::activemask: return warp_.vote();
    case ptx_op::bar:
    case ptx_op::barrier: return warp_.barrier();
    default: in_.unsupported();
  }
}

void selector::select_memory(ptx_op op) {
  switch (op) {
    case ptx_op::ld:
    case ptx_op::ldu: return memory_.load();
    case ptx_op::st: return memory_.store();
    case ptx_op::atom:
    case ptx_op::red: return memory_.atomic();
    case ptx_op::membar:
    case ptx_op::fence: return memory_.fence();
    case ptx_op::cvta: return memory_.convert_address();
    case ptx_op::isspacep: return memory_.is_space();
    case ptx_op::mapa:
    case ptx_op::getctarank: chip_.require_capability(9); return out_.copy(in_.dst(), in_.src(0));
    default: in_.unsupported();
  }
}

void selector::select_move(const hir_instruction& h) {
  switch (h.op) {
    case ptx_op::mov: return move_.move();
    case ptx_op::pack: return move_.pack();
    case ptx_op::unpack: return move_.unpack();
    case ptx_op::s2r: out_.put(opcode::s2r, in_.dst(), {}).base.sub = h.m.sub; return;
    default: in_.unsupported();
  }
}

void selector::select_matrix(ptx_op op) {
  switch (op) {
    case ptx_op::wmma: return wmma_.select();
    case ptx_op::mma: return tensor_.multiply();
    case ptx_op::ldmatrix: return tensor_.load_matrix();
    case ptx_op::movmatrix: return tensor_.transpose_matrix();
    case ptx_op::stmatrix: return chip_.require_capability(9);  // its steps are instructions of their own
    default: in_.unsupported();
  }
}

void selector::select_texture(ptx_op op) {
  switch (op) {
    case ptx_op::tex:
    case ptx_op::tld4: return texture_.texture_fetch();
    case ptx_op::suld:
    case ptx_op::sust: return texture_.surface_access();
    case ptx_op::txq:
    case ptx_op::suq: return texture_.texture_question();
    default: in_.unsupported();
  }
}

void selector::select_flow(const hir_instruction& h) {
  switch (h.op) {
    case ptx_op::bra: {
      machine_instruction& i = out_.put(opcode::bra, {no_register, 0, 0}, {});
      i.target_block = h.target;
      i.return_block = h.return_block;
      i.base.uniform = h.m.uniform;
      return;
    }
    case ptx_op::exit: out_.put(opcode::exit, {no_register, 0, 0}, {}); return;
    case ptx_op::trap: return system_.trap();
    case ptx_op::system_call: return system_.system_call();
    case ptx_op::pmevent: out_.put(opcode::nop, {no_register, 0, 0}, {}); return;
    case ptx_op::nanosleep: out_.put(opcode::nanosleep, {no_register, 0, 0}, {in_.src(0)}); return;
    default: in_.unsupported();
  }
}

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/selector.h"

#include <array>
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
      matrices_(in_, out_, chip_, runs_),
      fragments_(in_, out_, chip_, wide_, products_, runs_),
      integer_(in_, out_, wide_),
      bit_(in_, out_, wide_),
      multiply_(in_, out_, chip_, wide_, products_),
      float_(in_, out_, chip_),
      function_(in_, out_),
      divide_(in_, out_),
      integer_divide_(in_, out_, products_, chip_),
      convert_(in_, out_, chip_, wide_),
      compare_(in_, out_, wide_),
      memory_(in_, out_, chip_, wide_, runs_),
      warp_(in_, out_, chip_),
      move_(in_, out_, runs_),
      system_(in_, out_),
      tensor_(in_, out_, chip_, runs_, matrices_),
      wmma_(in_, out_, chip_, runs_, matrices_, fragments_),
      warpgroup_(in_, out_, chip_, runs_),
      texture_(in_, out_, runs_) {}

machine_function selector::run() {
  code_.blocks.resize(f_.blocks.size());
  if (!code_.blocks.empty()) fragments_.begin(code_.blocks.front());
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
  fragments_.begin(nowhere);
  for (const hir_instruction& h : f_.unused) {
    if (h.op == ptx_op::save || h.op == ptx_op::restore) continue;  // not instructions of the program
    select(h);
    nowhere.code.clear();
    code_.registers.resize(registers);
    fragments_.begin(nowhere);
    runs_.forget();
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

/// What translates each PTX instruction that the resolver does not translate itself.
struct selector::selection {
  using function = void (*)(selector& s, const hir_instruction& h);
  struct row {
    ptx_op op;
    function translate;  // nullptr: of a family that is selected, but the resolver has replaced the instruction
  };

  static bool is_real(const hir_instruction& h) { return isa::is_float(h.m.type); }
  static void logic(selector& s, const hir_instruction& h, std::uint8_t table) {
    if (h.m.type == dtype::pred) s.compare_.predicate_logic();
    else s.integer_.logic(table);
  }
  static void branch(selector& s, const hir_instruction& h) {
    machine_instruction& i = s.out_.put(opcode::bra, {no_register, 0, 0}, {});
    i.target_block = h.target;
    i.return_block = h.return_block;
    i.base.uniform = h.m.uniform;
  }
  static void function_of_one(selector& s, const hir_instruction& h) {
    if (is_half(h.m.type)) s.function_.half_function();
    else if (h.op == ptx_op::ex2) s.function_.exponential();
    else s.function_.special_function();
  }

// clang-format off
#define HEDDLE_SELECT(name, ...) {ptx_op::name, [](selector& s, [[maybe_unused]] const hir_instruction& h) { __VA_ARGS__; }}
  static constexpr row rows[] = {
    // arithmetic
    HEDDLE_SELECT(abs, is_real(h) ? s.float_.sign() : s.integer_.absolute_negate()),
    HEDDLE_SELECT(add, is_real(h) ? s.float_.arithmetic() : h.m.carry_out ? s.integer_.add_sub_carry() : s.integer_.add_sub()),
    HEDDLE_SELECT(addc, s.integer_.add_sub_carry()),
    HEDDLE_SELECT(copysign, s.float_.copy_sign()),
    HEDDLE_SELECT(cvt, s.convert_.convert()),
    HEDDLE_SELECT(div, is_real(h) ? s.divide_.divide() : s.integer_divide_.divide()),
    HEDDLE_SELECT(dp2a, s.integer_.dot_product()),
    HEDDLE_SELECT(dp4a, s.integer_.dot_product()),
    HEDDLE_SELECT(fma, s.float_.arithmetic()),
    HEDDLE_SELECT(mad, is_real(h) ? s.float_.arithmetic() : h.m.carry_out ? s.multiply_.carry_chain_multiply() : s.multiply_.multiply()),
    HEDDLE_SELECT(mad24, s.multiply_.multiply_24()),
    HEDDLE_SELECT(madc, s.multiply_.carry_chain_multiply()),
    HEDDLE_SELECT(max, is_real(h) ? s.float_.min_max() : s.integer_.min_max()),
    HEDDLE_SELECT(min, is_real(h) ? s.float_.min_max() : s.integer_.min_max()),
    HEDDLE_SELECT(mul, is_real(h) ? s.float_.arithmetic() : s.multiply_.multiply()),
    HEDDLE_SELECT(mul24, s.multiply_.multiply_24()),
    HEDDLE_SELECT(neg, is_real(h) ? s.float_.sign() : s.integer_.absolute_negate()),
    HEDDLE_SELECT(rcp, s.divide_.reciprocal()),
    HEDDLE_SELECT(rem, is_real(h) ? s.divide_.divide() : s.integer_divide_.divide()),
    HEDDLE_SELECT(sad, s.integer_.absolute_difference()),
    HEDDLE_SELECT(sqrt, s.divide_.square_root()),
    HEDDLE_SELECT(sub, is_real(h) ? s.float_.arithmetic() : h.m.carry_out ? s.integer_.add_sub_carry() : s.integer_.add_sub()),
    HEDDLE_SELECT(subc, s.integer_.add_sub_carry()),
    HEDDLE_SELECT(testp, s.float_.test_property()),
    // bits
    HEDDLE_SELECT(and_, logic(s, h, 0xc0)),
    HEDDLE_SELECT(bfe, s.bit_.bit_field_extract()),
    HEDDLE_SELECT(bfi, s.bit_.bit_field_insert()),
    HEDDLE_SELECT(bfind, s.bit_.find_leading()),
    HEDDLE_SELECT(bmsk, s.bit_.mask_bits()),
    HEDDLE_SELECT(brev, s.bit_.count_bits()),
    HEDDLE_SELECT(clz, s.bit_.find_leading()),
    HEDDLE_SELECT(cnot, s.integer_.logic(0)),
    HEDDLE_SELECT(lop3, s.integer_.logic(0)),
    HEDDLE_SELECT(not_, logic(s, h, 0x0f)),
    HEDDLE_SELECT(or_, logic(s, h, 0xfc)),
    HEDDLE_SELECT(popc, s.bit_.count_bits()),
    HEDDLE_SELECT(prmt, s.bit_.permute()),
    HEDDLE_SELECT(shf, s.bit_.funnel()),
    HEDDLE_SELECT(shl, s.integer_.shift()),
    HEDDLE_SELECT(shr, s.integer_.shift()),
    HEDDLE_SELECT(szext, s.bit_.mask_bits()),
    HEDDLE_SELECT(xor_, logic(s, h, 0x3c)),
    // compare
    HEDDLE_SELECT(selp, s.compare_.select_value()),
    HEDDLE_SELECT(set, s.compare_.set_value()),
    HEDDLE_SELECT(setp, s.compare_.set_predicate()),
    HEDDLE_SELECT(slct, s.compare_.select_by_sign()),
    // function
    HEDDLE_SELECT(cos, function_of_one(s, h)),
    HEDDLE_SELECT(ex2, function_of_one(s, h)),
    HEDDLE_SELECT(lg2, function_of_one(s, h)),
    HEDDLE_SELECT(rsqrt, function_of_one(s, h)),
    HEDDLE_SELECT(sin, function_of_one(s, h)),
    HEDDLE_SELECT(tanh, function_of_one(s, h)),
    // warp, barrier
    HEDDLE_SELECT(activemask, s.warp_.vote()),
    HEDDLE_SELECT(elect, s.warp_.elect()),
    HEDDLE_SELECT(match, s.warp_.match()),
    HEDDLE_SELECT(redux, s.warp_.reduce()),
    HEDDLE_SELECT(shfl, s.warp_.shuffle()),
    HEDDLE_SELECT(vote, s.warp_.vote()),
    HEDDLE_SELECT(bar, s.warp_.barrier()),
    HEDDLE_SELECT(barrier, s.warp_.barrier()),
    HEDDLE_SELECT(griddepcontrol, s.warp_.grid_dependence()),
    // memory, fence, address
    HEDDLE_SELECT(atom, s.memory_.atomic()),
    HEDDLE_SELECT(ld, s.memory_.load()),
    HEDDLE_SELECT(ldu, s.memory_.load()),
    HEDDLE_SELECT(red, s.memory_.atomic()),
    HEDDLE_SELECT(st, s.memory_.store()),
    HEDDLE_SELECT(fence, s.memory_.fence()),
    HEDDLE_SELECT(membar, s.memory_.fence()),
    HEDDLE_SELECT(cvta, s.memory_.convert_address()),
    HEDDLE_SELECT(getctarank, s.chip_.require_capability(9); s.out_.copy(s.in_.dst(), s.in_.src(0))),
    HEDDLE_SELECT(isspacep, s.memory_.is_space()),
    HEDDLE_SELECT(mapa, s.chip_.require_capability(9); s.out_.copy(s.in_.dst(), s.in_.src(0))),
    // move, part
    HEDDLE_SELECT(mov, s.move_.move()),
    HEDDLE_SELECT(pack, s.move_.pack()),
    HEDDLE_SELECT(unpack, s.move_.unpack()),
    HEDDLE_SELECT(s2r, s.out_.put(opcode::s2r, s.in_.dst(), {}).base.sub = h.m.sub),
    {ptx_op::save, nullptr},
    {ptx_op::restore, nullptr},
    // matrix
    HEDDLE_SELECT(ldmatrix, s.tensor_.load_matrix()),
    HEDDLE_SELECT(mma, s.tensor_.multiply()),
    HEDDLE_SELECT(movmatrix, s.tensor_.transpose_matrix()),
    HEDDLE_SELECT(stmatrix, s.chip_.require_capability(9)),  // its steps are instructions of their own
    HEDDLE_SELECT(wmma, s.wmma_.select()),
    HEDDLE_SELECT(wgmma, s.warpgroup_.select()),
    HEDDLE_SELECT(setmaxnreg, s.warpgroup_.select()),
    // texture
    HEDDLE_SELECT(suld, s.texture_.surface_access()),
    HEDDLE_SELECT(suq, s.texture_.texture_question()),
    HEDDLE_SELECT(sust, s.texture_.surface_access()),
    HEDDLE_SELECT(tex, s.texture_.texture_fetch()),
    HEDDLE_SELECT(tld4, s.texture_.texture_fetch()),
    HEDDLE_SELECT(txq, s.texture_.texture_question()),
    // flow, system
    HEDDLE_SELECT(bra, branch(s, h)),
    {ptx_op::brx, nullptr},
    HEDDLE_SELECT(exit, s.out_.put(opcode::exit, {no_register, 0, 0}, {})),
    {ptx_op::ret, nullptr},
    {ptx_op::brkpt, nullptr},
    HEDDLE_SELECT(nanosleep, s.out_.put(opcode::nanosleep, {no_register, 0, 0}, {s.in_.src(0)})),
    HEDDLE_SELECT(pmevent, s.out_.put(opcode::nop, {no_register, 0, 0}, {})),
    HEDDLE_SELECT(system_call, s.system_.system_call()),
    HEDDLE_SELECT(trap, s.system_.trap()),
    // difference
    HEDDLE_SELECT(vabsdiff2, s.integer_.video_difference()),
    HEDDLE_SELECT(vabsdiff4, s.integer_.video_difference()),
    // copy, arrival: steps of all but copies and mbarrier.try_wait are instructions of their own
    HEDDLE_SELECT(cp, s.memory_.copy()),
    {ptx_op::tensormap, nullptr},
    HEDDLE_SELECT(mbarrier, s.memory_.arrival_wait()),
  };
#undef HEDDLE_SELECT
  // clang-format on

  static const std::array<function, static_cast<std::size_t>(ptx_op::count)> table;
};

namespace {

/// Whether instructions of the family are selected; otherwise the resolver has replaced all of them.
constexpr bool is_selected(op_family f) {
  switch (f) {
    case op_family::arithmetic:
    case op_family::bits:
    case op_family::compare:
    case op_family::function:
    case op_family::warp:
    case op_family::barrier:
    case op_family::memory:
    case op_family::fence:
    case op_family::address:
    case op_family::move:
    case op_family::flow:
    case op_family::system:
    case op_family::matrix:
    case op_family::texture:
    case op_family::difference:
    case op_family::copy:
    case op_family::arrival:
    case op_family::part: return true;
    case op_family::call:
    case op_family::hint:
    case op_family::video:
    case op_family::stack:
    case op_family::search: return false;
  }
  return false;
}

constexpr op_family family_of[] = {
#define HEDDLE_X(name, text, family, ...) op_family::family,
    HEDDLE_PTX_OPS(HEDDLE_X)
#undef HEDDLE_X
};

/// Each instruction of a family that is selected has one row, the others have none.
template <typename Row, std::size_t n>
constexpr bool complete(const Row (&rows)[n]) {
  for (std::size_t op = 0; op < static_cast<std::size_t>(ptx_op::count); ++op) {
    std::size_t found = 0;
    for (const Row& r : rows) found += static_cast<std::size_t>(r.op) == op ? 1 : 0;
    if (found != (is_selected(family_of[op]) ? 1u : 0u)) return false;
  }
  return true;
}

}  // namespace

const std::array<selector::selection::function, static_cast<std::size_t>(ptx_op::count)> selector::selection::table =
    [] {
      static_assert(complete(rows), "an instruction of ptx_op.h lacks its row in selector.cpp, or has two");
      std::array<function, static_cast<std::size_t>(ptx_op::count)> by_op{};
      for (const row& r : rows) by_op[static_cast<std::size_t>(r.op)] = r.translate;
      return by_op;
    }();

void selector::select(const hir_instruction& h) {
  in_.set(h);
  check_types(h);
  const auto translate = selection::table[static_cast<std::size_t>(h.op)];
  if (translate == nullptr) in_.unsupported();
  translate(*this, h);
}

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#include "heddle/energy/instruction_energy.h"

#include "heddle/isa/imad_form.h"
#include "heddle/isa/matrix.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

namespace {

struct place {
  energy_unit unit;
  energy_class of;
};

place place_of(isa::unit u) {
  switch (u) {
    case isa::unit::fp32: return {energy_unit::fp32, energy_class::fp32};
    case isa::unit::fp64: return {energy_unit::fp64, energy_class::fp64};
    case isa::unit::half: return {energy_unit::half, energy_class::half};
    case isa::unit::sfu: return {energy_unit::sfu, energy_class::sfu};
    case isa::unit::tensor: return {energy_unit::tensor, energy_class::tensor};
    case isa::unit::ldst: return {energy_unit::ldst, energy_class::ldst};
    case isa::unit::branch: return {energy_unit::branch, energy_class::branch};
    case isa::unit::texture: return {energy_unit::texture, energy_class::texture};
    case isa::unit::integer:
    case isa::unit::count: break;
  }
  return {energy_unit::integer, energy_class::integer};
}

/// Its pipe is the multiplier's, but nothing is multiplied.
bool only_moves_or_adds(const isa::instruction& i) {
  return i.op == isa::opcode::viadd || isa::form_of(i) != isa::imad_form::multiply;
}

double lane_price(isa::op_class c, const isa::instruction& i, const energy_parameters& p) {
  if (c == isa::op_class::int_multiply) return only_moves_or_adds(i) ? p.int_pj : p.int_multiply_pj;
  switch (isa::unit_of(c)) {
    case isa::unit::fp32: return p.fp32_pj;
    case isa::unit::fp64: return p.fp64_pj;
    case isa::unit::half: return p.half_pj;
    case isa::unit::sfu: return p.sfu_pj;
    case isa::unit::ldst: return p.ldst_pj;
    case isa::unit::branch: return p.branch_pj;
    case isa::unit::texture: return p.texture_pj;
    case isa::unit::tensor: return 0;
    case isa::unit::integer:
    case isa::unit::count: break;
  }
  return p.int_pj;
}

double multiply_add_price(isa::dtype type, const energy_parameters& p) {
  switch (type) {
    case isa::dtype::u8:
    case isa::dtype::s8:
    case isa::dtype::e4m3x2:
    case isa::dtype::e5m2x2:
    case isa::dtype::s4:
    case isa::dtype::u4:
    case isa::dtype::b1: return p.tensor_int8_pj;  // multiply_adds() counts narrower elements by the byte
    case isa::dtype::f64: return p.tensor_f64_pj;
    case isa::dtype::b32: return p.tensor_tf32_pj;
    default: return p.tensor_f16_pj;
  }
}

}  // namespace

register_use registers_of(const isa::instruction& i) {
  register_use use;
  for (const isa::operand& o : i.src)
    if (o.is_reg() && o.reg != isa::rz) use.reads += o.count;
  if (i.dst != isa::rz) use.writes = i.dst_count;
  return use;
}

instruction_energy energy_of(const decoded_instruction& d, const energy_parameters& prices) {
  const isa::instruction& i = *d.instruction;
  instruction_energy e;
  e.unit = place_of(d.unit).unit;
  e.purpose = place_of(isa::unit_of(d.timing)).of;  // integers may be multiplied on the FP32 pipe
  if (d.timing == isa::op_class::tensor)
    e.unit_per_warp = isa::multiply_adds(i) * multiply_add_price(i.src_type, prices);
  else e.unit_per_lane = lane_price(d.timing, i, prices);
  const register_use use = registers_of(i);
  e.registers_per_lane = use.reads * prices.register_read_pj + use.writes * prices.register_write_pj;
  return e;
}

std::vector<instruction_energy> energies_of(const decoded_program& program, const energy_parameters& prices) {
  std::vector<instruction_energy> all;
  all.reserve(program.code.size());
  for (const decoded_instruction& d : program.code) all.push_back(energy_of(d, prices));
  return all;
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/texture_selector.h"

#include "heddle/frontend/ptx/hir/texture_form.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

/// The type of an access with this number of bytes.
isa::dtype register_run_type(unsigned bytes) {
  return bytes == 1   ? isa::dtype::b8
         : bytes == 2 ? isa::dtype::b16
         : bytes == 4 ? isa::dtype::b32
         : bytes == 8 ? isa::dtype::b64
                      : isa::dtype::b128;
}

}  // namespace

/// Coordinates or gradients in one register, a pair or a quad.
virtual_operand texture_selector::registers_of(unsigned first, unsigned count) {
  if (count == 1) return in_.src(first, dtype::b32);
  const register_part all = out_.temp(count == 2 ? 2 : 4);
  for (unsigned k = 0; k < count; ++k)
    out_.copy({all.reg, static_cast<std::uint8_t>(k), 1}, in_.src(first + k, dtype::b32));
  return all;
}

void texture_selector::texture_fetch() {
  const texture_form& form = in_.texture();
  const bool gather = in_.now().op == ptx_op::tld4;
  if (!form.shaped || form.types != 2 || form.vector != 4 || isa::size_of(form.type[0]) != 4 ||
      (gather && form.shape != isa::texture_shape::two))
    in_.unsupported();
  if (form.type[1] != dtype::f32 && (form.type[1] != dtype::s32 || gather || isa::is_cube(form.shape)))
    in_.unsupported();
  if (in_.now().dst.size() != 4) in_.fail("'" + in_.now().source->mnemonic() + "' needs four registers");
  const virtual_operand handle = in_.src(0, dtype::b64), at = registers_of(1, form.coordinates());
  const unsigned behind = 1 + form.coordinates(), n = form.gradients ? isa::dimensions(form.shape) : 1;
  virtual_operand more[2];
  for (unsigned k = 0; k < form.more_operands(); ++k) more[k] = registers_of(behind + k * n, n);
  const register_part d = out_.temp(4);
  machine_instruction& i = out_.put(gather ? opcode::tld4 : opcode::tex, d, {handle, at, more[0], more[1]});
  i.base.sub = static_cast<std::uint8_t>(
      static_cast<unsigned>(form.shape) | form.component << isa::texture::component_shift |
      (form.level ? isa::texture::level : 0) | (form.gradients ? isa::texture::gradients : 0));
  i.base.type = form.type[0];
  i.base.src_type = form.type[1];
  out_.guard(i);
  runs_.spread(d, 0, 1);
}

void texture_selector::surface_access() {
  const texture_form& form = in_.texture();
  const bool stores = in_.now().op == ptx_op::sust;
  const unsigned size = isa::size_of(form.type[0]), bytes = size * form.vector, coordinates = form.coordinates();
  if (!form.shaped || form.types != 1 || bytes == 0 || bytes > 16) in_.unsupported();
  const std::size_t given = stores ? in_.now().src.size() - 1 - coordinates : in_.now().dst.size();
  if (given != form.vector)
    in_.fail("'" + in_.now().source->mnemonic() + "' needs " + std::to_string(form.vector) + " registers");
  const virtual_operand handle = in_.src(0, dtype::b64), at = registers_of(1, coordinates);
  const unsigned words = bytes < 4 ? 1 : bytes / 4;
  register_part d{no_register, 0, 0};
  virtual_operand data;
  if (stores)
    data = form.vector == 1 ? in_.src(1 + coordinates, form.type[0])
                            : virtual_operand(runs_.pack_elements(size, 1 + coordinates));
  else d = out_.temp(words);
  machine_instruction& i = out_.put(stores ? opcode::sust : opcode::suld, d, {handle, at, data});
  i.base.sub = static_cast<std::uint8_t>(static_cast<unsigned>(form.shape) | form.boundary);
  i.base.type = register_run_type(bytes);
  i.base.src_type = dtype::s32;
  out_.guard(i);
  if (stores) return;
  if (size >= 4) runs_.spread(d, 0, size / 4);
  else runs_.extract_elements(d, size, false);
}

void texture_selector::texture_question() {
  const texture_form& form = in_.texture();
  if (in_.now().dst.size() != 1) in_.fail("'" + in_.now().source->mnemonic() + "' needs a register");
  out_.put(opcode::txq, runs_.part_of_dst(0, 1), {in_.src(0, dtype::b64)}).base.sub =
      static_cast<std::uint8_t>(form.query);
}

}  // namespace heddle::ptx

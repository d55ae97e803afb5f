// SPDX-License-Identifier: MIT
// tex, tld4, suld, sust, txq, suq: handle, coordinates and data in aligned consecutive registers.
#include "heddle/frontend/ptx/hir/texture_form.h"
#include "heddle/frontend/ptx/select/selector.h"

namespace heddle::ptx {

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

/// The coordinates in one register, a pair or a quad.
selector::operand selector::coordinate_registers(unsigned count) {
  if (count == 1) return src(1, dtype::b32);
  const register_part all = temp(count == 2 ? 2 : 4);
  for (unsigned k = 0; k < count; ++k) copy({all.reg, static_cast<std::uint8_t>(k), 1}, src(1 + k, dtype::b32));
  return all;
}

void selector::texture_fetch() {
  const texture_form form = decode_texture_form(*now_->source, file_);
  const bool gather = now_->op == ptx_op::tld4;
  if (!form.shaped || form.types != 2 || form.vector != 4 || isa::size_of(form.type[0]) != 4 ||
      (gather && form.shape != isa::texture_shape::two))
    unsupported();
  if (form.type[1] != dtype::f32 && (form.type[1] != dtype::s32 || gather || isa::is_cube(form.shape))) unsupported();
  if (now_->dst.size() != 4) fail("'" + now_->source->mnemonic() + "' needs four registers");
  const operand handle = src(0, dtype::b64), at = coordinate_registers(form.coordinates());
  const register_part d = temp(4);
  machine_instruction& i = put(gather ? opcode::tld4 : opcode::tex, d, {handle, at});
  i.base.sub =
      static_cast<std::uint8_t>(static_cast<unsigned>(form.shape) | form.component << isa::texture::component_shift);
  i.base.type = form.type[0];
  i.base.src_type = form.type[1];
  if (now_->guard.what != value::kind::none) i.guard = {now_->guard.reg, now_->guard.negate};
  spread(d, 0, 1);
}

void selector::surface_access() {
  const texture_form form = decode_texture_form(*now_->source, file_);
  const bool stores = now_->op == ptx_op::sust;
  const unsigned size = isa::size_of(form.type[0]), bytes = size * form.vector, coordinates = form.coordinates();
  if (!form.shaped || form.types != 1 || bytes == 0 || bytes > 16) unsupported();
  const std::size_t given = stores ? now_->src.size() - 1 - coordinates : now_->dst.size();
  if (given != form.vector)
    fail("'" + now_->source->mnemonic() + "' needs " + std::to_string(form.vector) + " registers");
  const operand handle = src(0, dtype::b64), at = coordinate_registers(coordinates);
  const unsigned words = bytes < 4 ? 1 : bytes / 4;
  register_part d{no_register, 0, 0};
  operand data;
  if (stores)
    data = form.vector == 1 ? src(1 + coordinates, form.type[0]) : operand(pack_elements(size, 1 + coordinates));
  else d = temp(words);
  machine_instruction& i = put(stores ? opcode::sust : opcode::suld, d, {handle, at, data});
  i.base.sub = static_cast<std::uint8_t>(static_cast<unsigned>(form.shape) | form.boundary);
  i.base.type = register_run_type(bytes);
  i.base.src_type = dtype::s32;
  if (now_->guard.what != value::kind::none) i.guard = {now_->guard.reg, now_->guard.negate};
  if (stores) return;
  if (size >= 4) spread(d, 0, size / 4);
  else extract_elements(d, size, false);
}

void selector::texture_question() {
  const texture_form form = decode_texture_form(*now_->source, file_);
  if (now_->dst.size() != 1) fail("'" + now_->source->mnemonic() + "' needs a register");
  put(opcode::txq, part_of_dst(0, 1), {src(0, dtype::b64)}).base.sub = static_cast<std::uint8_t>(form.query);
}

}  // namespace heddle::ptx

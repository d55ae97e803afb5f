// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/move_selector.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

void move_selector::move() {
  in_.need(1);
  if (in_.now().m.type == dtype::pred) return out_.move_predicate(in_.predicate_dst(), in_.predicate(in_.now().src[0]));
  out_.copy(in_.dst(), in_.src(0));
}

void move_selector::pack() {
  const unsigned bytes = isa::size_of(in_.now().m.type), count = static_cast<unsigned>(in_.now().src.size());
  if (count == 0 || bytes % count != 0) in_.unsupported();
  const register_part whole = runs_.pack_elements(bytes / count, 0);
  register_part d = in_.dst();
  if (d.count != whole.count) in_.unsupported();
  out_.copy(d, whole);
}

void move_selector::unpack() {
  const unsigned bytes = isa::size_of(in_.now().m.type), count = static_cast<unsigned>(in_.now().dst.size());
  in_.need(1);
  // A single source register determines the width when globaltimer is split into halves.
  const dtype t = in_.now().m.type == dtype::none ? dtype::b64 : in_.now().m.type;
  const unsigned total = in_.now().m.type == dtype::none ? 8 : bytes;
  if (count == 0 || total % count != 0) in_.unsupported();
  const virtual_operand a = in_.src(0, t);
  const unsigned size = total / count;
  // A destination may equal the source register only as a whole, so parts can be written one after the other.
  for (unsigned k = 0; k < count; ++k) {
    if (!in_.now().dst[k].is_reg()) continue;
    const register_part d{in_.now().dst[k].reg, 0, in_.registers()[in_.now().dst[k].reg].words};
    if (size >= 4) {
      virtual_operand e = word(a, k * size / 4);
      e.count = static_cast<std::uint8_t>(size / 4);
      if (a.is_immediate()) e = size == 4 ? word(a, k) : a;
      out_.copy(d, e);
      continue;
    }
    const unsigned at = k * size;
    const unsigned b = at % 4;
    const unsigned pick = size == 1 ? (b | 0x4440) : (b | (b + 1) << 4 | 0x4400);
    if (b == 0 && size == 2 && d.count == 1)
      out_.copy(d, word(a, at / 4));  // upper bits of a 16-bit register are undefined
    else out_.put(opcode::prmt, d, {word(a, at / 4), immediate(pick), zero()});
  }
}

}  // namespace heddle::ptx

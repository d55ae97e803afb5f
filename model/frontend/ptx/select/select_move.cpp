// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/selector.h"

namespace heddle::ptx {

void selector::move() {
  need(1);
  if (now_->m.type == dtype::pred) return move_predicate(predicate_dst(), predicate(now_->src[0]));
  copy(dst(), src(0));
}

void selector::pack() {
  const unsigned bytes = isa::size_of(now_->m.type), count = static_cast<unsigned>(now_->src.size());
  if (count == 0 || bytes % count != 0) unsupported();
  const register_part whole = pack_elements(bytes / count, 0);
  register_part d = dst();
  if (d.count != whole.count) unsupported();
  copy(d, whole);
}

void selector::unpack() {
  const unsigned bytes = isa::size_of(now_->m.type), count = static_cast<unsigned>(now_->dst.size());
  need(1);
  // A single source register determines the width when globaltimer is split into halves.
  const dtype t = now_->m.type == dtype::none ? dtype::b64 : now_->m.type;
  const unsigned total = now_->m.type == dtype::none ? 8 : bytes;
  if (count == 0 || total % count != 0) unsupported();
  const operand a = src(0, t);
  const unsigned size = total / count;
  // A destination may equal the source register only as a whole, so parts can be written one after the other.
  for (unsigned k = 0; k < count; ++k) {
    if (!now_->dst[k].is_reg()) continue;
    const register_part d{now_->dst[k].reg, 0, f_.registers[now_->dst[k].reg].words};
    if (size >= 4) {
      operand e = word(a, k * size / 4);
      e.count = static_cast<std::uint8_t>(size / 4);
      if (a.is_immediate()) e = size == 4 ? word(a, k) : a;
      copy(d, e);
      continue;
    }
    const unsigned at = k * size;
    const unsigned b = at % 4;
    const unsigned pick = size == 1 ? (b | 0x4440) : (b | (b + 1) << 4 | 0x4400);
    if (b == 0 && size == 2 && d.count == 1) copy(d, word(a, at / 4));  // upper bits of a 16-bit register are undefined
    else put(opcode::prmt, d, {word(a, at / 4), immediate(pick), zero()});
  }
}

void selector::trap() {
  if (now_->src.empty()) {
    put(opcode::trap, {no_register, 0, 0}, {}).base.sub = now_->m.sub;
    return;
  }
  put(opcode::trap, {no_register, 0, 0},
      {src(0, dtype::b64), src(1, dtype::b64), src(2, dtype::b32), src(3, dtype::b64)})
      .base.sub = now_->m.sub;
}

// System calls read memory after all earlier stores of the warp have been acknowledged.
void selector::system_call() {
  put(opcode::membar, {no_register, 0, 0}, {}).base.sub = 1;
  const register_part d = now_->dst.empty() ? register_part{no_register, 0, 0} : dst();
  machine_instruction& i =
      put(opcode::syscall, d, {src(0, dtype::b64), now_->src.size() > 1 ? src(1, dtype::b64) : operand()});
  i.base.sub = now_->m.sub;
  if (now_->guard.what != value::kind::none) i.guard = {now_->guard.reg, now_->guard.negate};
}

}  // namespace heddle::ptx

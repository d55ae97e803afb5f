// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/system_selector.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

void system_selector::trap() {
  if (in_.now().src.empty()) {
    out_.put(opcode::trap, {no_register, 0, 0}, {}).base.sub = in_.now().m.sub;
    return;
  }
  out_.put(opcode::trap, {no_register, 0, 0},
           {in_.src(0, dtype::b64), in_.src(1, dtype::b64), in_.src(2, dtype::b32), in_.src(3, dtype::b64)})
      .base.sub = in_.now().m.sub;
}

// System calls read memory after all earlier stores of the warp have been acknowledged.
void system_selector::system_call() {
  out_.put(opcode::membar, {no_register, 0, 0}, {}).base.sub = 1;
  const register_part d = in_.now().dst.empty() ? register_part{no_register, 0, 0} : in_.dst();
  machine_instruction& i =
      out_.put(opcode::syscall, d,
               {in_.src(0, dtype::b64), in_.now().src.size() > 1 ? in_.src(1, dtype::b64) : virtual_operand()});
  i.base.sub = in_.now().m.sub;
  out_.guard(i);
}

}  // namespace heddle::ptx

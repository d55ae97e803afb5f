// SPDX-License-Identifier: MIT
#include "heddle/isa/liveness.h"

namespace heddle::isa {

std::vector<register_set> live_registers(const program& p) {
  const std::size_t n = p.code.size();
  std::vector<register_set> read(n), written(n), live(n);
  for (std::size_t k = 0; k < n; ++k) {
    const instruction& i = p.code[k];
    for (const operand& o : i.src)
      if (o.is_reg() && o.reg != rz)
        for (unsigned r = 0; r < o.count; ++r) read[k].set(o.reg + r);
    if (i.dst != rz && i.guard.reg == pt && !i.guard.negate)
      for (unsigned r = 0; r < i.dst_count; ++r) written[k].set(i.dst + r);
  }
  // Backward data-flow iteration until nothing changes: one more pass per loop nesting level.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = n; k-- != 0;) {
      const instruction& i = p.code[k];
      const bool always = i.guard.reg == pt && !i.guard.negate;
      register_set after;
      if (!(always && (i.op == opcode::exit || i.op == opcode::bra)) && k + 1 < n) after |= live[k + 1];
      if (i.op == opcode::bra && i.target < n) after |= live[i.target];
      const register_set before = (after & ~written[k]) | read[k];
      changed = changed || before != live[k];
      live[k] = before;
    }
  }
  return live;
}

}  // namespace heddle::isa

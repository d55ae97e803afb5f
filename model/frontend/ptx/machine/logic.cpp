// SPDX-License-Identifier: MIT
#include <algorithm>
#include <unordered_map>

#include "heddle/frontend/ptx/machine/definitions.h"
#include "heddle/frontend/ptx/machine/machine_passes.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

class logic_joiner {
 public:
  explicit logic_joiner(machine_function& f) : f_(f), units_(f.registers), defs_(f, units_) {}

  void run() {
    for (machine_block& b : f_.blocks)
      for (machine_instruction& i : b.code)
        if (is_binary(i) && !join(i, 0)) join(i, 1);
  }

 private:
  static bool is_plain(const virtual_operand& o) { return !o.negate && !o.invert && !o.absolute && o.count == 1; }

  static bool is_binary(const machine_instruction& i) {
    return i.base.op == opcode::lop3 && i.src[2].is_zero_register() && !i.guarded() && i.pdst[0] == no_register &&
           is_plain(i.src[0]) && is_plain(i.src[1]);
  }

  [[nodiscard]] bool stable(const virtual_operand& o) const {
    return !o.is_reg() || defs_.single(f_, o.reg, units_.of(o.reg, o.part));
  }

  /// outer(inner(a, b), c) becomes one operation of a, b and c.
  bool join(machine_instruction& outer, unsigned k) {
    const virtual_operand x = outer.src[k], other = outer.src[1 - k];
    if (!x.is_reg()) return false;
    const std::uint32_t u = units_.of(x.reg, x.part);
    if (!defs_.single(f_, x.reg, u) || defs_.uses[u] != 1) return false;
    const machine_instruction& inner = *defs_.by[u];
    const auto values = [](const virtual_operand& o) { return is_value(o) ? 1 : 0; };
    if (!is_binary(inner) || !stable(inner.src[0]) || !stable(inner.src[1]) ||
        values(inner.src[0]) + values(inner.src[1]) + values(other) > 1)
      return false;
    unsigned table = 0;
    for (unsigned row = 0; row < 8; ++row) {
      const unsigned c = row & 1, result = inner.base.sub >> (row & 6) & 1;
      table |= (outer.base.sub >> (k == 0 ? result << 2 | c << 1 : c << 2 | result << 1) & 1u) << row;
    }
    outer.base.sub = static_cast<std::uint8_t>(table);
    outer.src = {inner.src[0], inner.src[1], other, virtual_operand()};
    if (is_value(outer.src[0])) exchange_sources(outer);
    return true;
  }

  machine_function& f_;
  const unit_map units_;
  const definitions defs_;
};

/// A comparison of a logic operation's result with zero becomes a second result of the operation.
class zero_tests {
 public:
  explicit zero_tests(machine_function& f) : f_(f), units_(f.registers), defs_(f, units_) {}

  void run() {
    for (machine_block& b : f_.blocks) {
      last_.clear();
      for (machine_instruction& i : b.code) {
        if (i.base.op == opcode::isetp) test(i);
        if (i.base.op == opcode::lop3 && !i.guarded() && i.pdst[0] == no_register && i.dst.reg != no_register)
          last_[units_.of(i.dst.reg, i.dst.part)] = &i;
      }
      b.code.erase(
          std::remove_if(b.code.begin(), b.code.end(),
                         [](const machine_instruction& i) { return i.base.op == opcode::nop && i.base.sub == gone; }),
          b.code.end());
    }
    if (opposite_.empty()) return;
    for (machine_block& b : f_.blocks)
      for (machine_instruction& i : b.code) {
        negate(i.guard);
        for (virtual_predicate& p : i.psrc) negate(p);
      }
  }

 private:
  static constexpr std::uint8_t gone = 0xff;

  void test(machine_instruction& i) {
    using isa::compare;
    const virtual_operand& x = i.src[0];
    const std::uint32_t p = i.pdst[0];
    if (i.guarded() || i.base.extended || (i.base.cmp != compare::eq && i.base.cmp != compare::ne) ||
        i.base.bop != isa::bool_op::and_ || i.psrc[0].reg != no_register || i.psrc[0].negate ||
        i.pdst[1] != no_register || p == no_register || !x.is_reg() || x.negate || x.invert ||
        !i.src[1].is_zero_register())
      return;
    const auto made = last_.find(units_.of(x.reg, x.part));
    if (made == last_.end() || !defs_.single(f_, x.reg, units_.of(x.reg, x.part)) ||
        !defs_.single(f_, p, units_.of(p)) || made->second->pdst[0] != no_register)
      return;
    made->second->pdst[0] = p;
    if (defs_.uses[units_.of(x.reg, x.part)] == 1) made->second->dst.reg = no_register;
    if (i.base.cmp == compare::eq) opposite_[p] = true;
    i = {};
    i.base.op = opcode::nop;
    i.base.sub = gone;
  }

  void negate(virtual_predicate& p) const {
    if (p.reg != no_register && opposite_.count(p.reg) != 0) p.negate = !p.negate;
  }

  machine_function& f_;
  const unit_map units_;
  const definitions defs_;
  std::unordered_map<std::uint32_t, machine_instruction*> last_;  // operations of the block by the word of their result
  std::unordered_map<std::uint32_t, bool> opposite_;              // predicates that are true for zero
};

}  // namespace

void join_logic(machine_function& f) {
  logic_joiner(f).run();
  remove_dead_code(f);
  zero_tests(f).run();
}

}  // namespace heddle::ptx

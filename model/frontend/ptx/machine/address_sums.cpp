// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/definitions.h"
#include "heddle/frontend/ptx/machine/machine_passes.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

/// Looks for the two halves of 64-bit sums.
class sum_joiner {
 public:
  explicit sum_joiner(machine_function& f) : f_(f), units_(f.registers), defs_(f, units_), low_(f.registers.size()) {}

  void run() {
    for (machine_block& b : f_.blocks) {
      for (machine_instruction& i : b.code) {
        if (i.base.op != opcode::iadd3 || i.guarded() || !adds_two(i)) continue;
        if (!i.base.extended && i.pdst[0] != no_register) low_[i.pdst[0]] = &i;
        else if (i.base.extended && i.pdst[0] == no_register && i.psrc[0].reg != no_register) join(i);
      }
      low_.assign(low_.size(), nullptr);
    }
  }

 private:
  static bool adds_two(const machine_instruction& i) {
    const auto plain = [](const virtual_operand& o) { return !o.negate && !o.invert; };
    return plain(i.src[0]) && plain(i.src[1]) && i.src[2].is_zero_register() && plain(i.src[2]);
  }

  /// What computes an operand that nothing else reads.
  [[nodiscard]] const machine_instruction* only_for(const virtual_operand& o) const {
    if (!o.is_reg()) return nullptr;
    const std::uint32_t u = units_.of(o.reg, o.part);
    return defs_.single(f_, o.reg, u) && defs_.uses[u] == 1 ? defs_.by[u] : nullptr;
  }

  [[nodiscard]] bool stable(const virtual_operand& o) const {
    return o.is_zero_register() || (o.is_reg() && defs_.single(f_, o.reg, units_.of(o.reg, o.part)));
  }

  static bool same(const virtual_operand& a, const virtual_operand& b) {
    return a.is_reg() && b.is_reg() && a.reg == b.reg && a.part == b.part;
  }

  /// The amount of a shift by a number of bits within a word; 0: it is none.
  static std::uint8_t amount(const machine_instruction& i) {
    return i.src[1].is_immediate() && i.src[1].value < 32 ? static_cast<std::uint8_t>(i.src[1].value) : 0;
  }

  void join(machine_instruction& high) {
    machine_instruction* low = low_[high.psrc[0].reg];
    if (low == nullptr || high.psrc[0].negate || defs_.uses[units_.of(high.psrc[0].reg)] != 1) return;
    for (unsigned k = 0; k < 2; ++k) {
      const machine_instruction* shifted = only_for(high.src[k]);
      if (shifted == nullptr) continue;
      if (shifted->base.op == opcode::shf && add_shifted(*low, high, *shifted, k)) return;
      if (shifted->base.op == opcode::shr && add_extended(*low, high, *shifted, k)) return;
    }
  }

  /// base + (x << k) becomes LEA and LEA.HI.X.
  bool add_shifted(machine_instruction& low, machine_instruction& high, const machine_instruction& shf, unsigned k) {
    const std::uint8_t bits = amount(shf);
    if (bits == 0 || shf.base.sub != 0 || isa::size_of(shf.base.type) == 8 || !shf.src[0].is_reg()) return false;
    for (unsigned j = 0; j < 2; ++j) {
      const machine_instruction* shl = only_for(low.src[j]);
      if (shl == nullptr || shl->base.op != opcode::shl || amount(*shl) != bits || !same(shl->src[0], shf.src[0]) ||
          !stable(shf.src[0]) || !stable(shf.src[2]))
        continue;
      const virtual_operand word = shf.src[0], upper = shf.src[2];
      to_lea(low, word, low.src[1 - j], virtual_operand(), bits);
      to_lea(high, word, high.src[1 - k], upper, bits);
      high.base.high = true;
      return true;
    }
    return false;
  }

  /// base + a signed word: the upper half is LEA.HI.X.SX32, which takes the sign itself.
  bool add_extended(const machine_instruction& low, machine_instruction& high, const machine_instruction& shr,
                    unsigned k) {
    if (amount(shr) != 31 || shr.base.type != isa::dtype::s32 || !stable(shr.src[0])) return false;
    if (!same(low.src[0], shr.src[0]) && !same(low.src[1], shr.src[0])) return false;
    to_lea(high, shr.src[0], high.src[1 - k], virtual_operand(), 1);
    high.base.high = true;
    high.base.type = isa::dtype::s32;
    return true;
  }

  static void to_lea(machine_instruction& i, const virtual_operand& a, const virtual_operand& b,
                     const virtual_operand& c, std::uint8_t bits) {
    i.base.op = opcode::lea;
    i.base.sub = bits;
    i.src = {a, b, c, virtual_operand()};
  }

  machine_function& f_;
  const unit_map units_;
  const definitions defs_;
  std::vector<machine_instruction*> low_;  // lower halves in the block, by the predicate of their carry
};

}  // namespace

void join_shifted_sums(machine_function& f) { sum_joiner(f).run(); }

}  // namespace heddle::ptx

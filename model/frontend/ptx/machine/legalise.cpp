// SPDX-License-Identifier: MIT
#include <algorithm>

#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/machine/machine_passes.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

class legaliser {
 public:
  legaliser(machine_function& f, constant_access access) : f_(f), access_(access), early_(f.blocks.size()) {
    flow_graph g;
    for (const machine_block& b : f.blocks) g.push_back(b.successors);
    dominator_ = immediate_dominators(g, 0);
    depth_ = loop_depths(g, 0);
  }

  void run() {
    for (block_ = 0; block_ < f_.blocks.size(); ++block_) {
      std::vector<machine_instruction> code;
      machine_block& b = f_.blocks[block_];
      held_.clear();
      code.reserve(b.code.size() * 5 / 4);
      for (machine_instruction& i : b.code) {
        fix(i, code);
        code.push_back(i);
      }
      b.code = std::move(code);
    }
    place_early_moves();
  }

 private:
  struct held_value {
    virtual_operand value;
    std::uint32_t reg;
    std::size_t at;
  };

  // How long a constant stays in its register for reuse; longer would cost more registers than it saves moves.
  static constexpr std::size_t reuse_distance = 24;

  static constexpr std::uint8_t literal_bank = 2;
  static constexpr std::size_t most_literals = 8192;  // 64 KiB, what a bank has

  static bool is_double(const machine_instruction& i) {
    return i.base.op == opcode::dadd || i.base.op == opcode::dmul || i.base.op == opcode::dfma ||
           i.base.op == opcode::dmnmx || i.base.op == opcode::dsetp;
  }

  static bool encodable(const virtual_operand& o, const machine_instruction& i) {
    // Of a 64-bit immediate an instruction holds the upper half.
    if (o.count == 2 && o.is_immediate()) return is_double(i) && (o.value & 0xffffffffu) == 0;
    return o.count != 4;
  }

  /// A number that no instruction holds stands in a constant bank of the program's own.
  void to_literal(virtual_operand& o) {
    const auto found = std::find(f_.literals.begin(), f_.literals.end(), o.value);
    const std::size_t place = static_cast<std::size_t>(found - f_.literals.begin());
    if (found == f_.literals.end()) f_.literals.push_back(o.value);
    o.kind = isa::operand_kind::constant;
    o.bank = literal_bank;
    o.value = 8 * place;
  }

  static bool is_address(const machine_instruction& i, const virtual_operand& o) {
    return &o == &i.src[0] && isa::names_address(i.base.op);
  }

  /// The nearest block before the loops around this one.
  [[nodiscard]] std::uint32_t before_loops() const {
    std::uint32_t b = block_;
    while (depth_[b] > 0 && dominator_[b] != b && dominator_[b] != no_node) b = dominator_[b];
    return b;
  }

  void load(const machine_instruction& i, const virtual_operand& o, std::uint32_t to,
            std::vector<machine_instruction>& code) const {
    for (unsigned k = 0; k < o.count; ++k) {
      machine_instruction m;
      m.base.op = opcode::mov;
      m.base.line = i.base.line;
      m.base.column = i.base.column;
      m.base.dst_count = 1;
      m.dst = {to, static_cast<std::uint8_t>(k), 1};
      m.src[0].kind = o.kind;
      m.src[0].bank = o.bank;
      m.src[0].value = o.is_constant() ? o.value + 4 * k : o.value >> (32 * k) & 0xffffffffu;
      if (m.src[0].is_immediate() && m.src[0].value == 0) m.src[0].kind = isa::operand_kind::reg;
      code.push_back(m);
    }
  }

  static bool same(const virtual_operand& a, const virtual_operand& b) {
    return a.kind == b.kind && a.value == b.value && a.bank == b.bank && a.count == b.count;
  }

  void to_register(machine_instruction& i, virtual_operand& o, std::vector<machine_instruction>& code) {
    const bool is_load = access_ == constant_access::loads && o.is_constant();
    const std::uint32_t early = is_address(i, o) || is_load ? before_loops() : block_;
    std::vector<held_value>& known = early == block_ ? held_ : early_[early];
    for (const held_value& h : known) {
      if ((early == block_ && code.size() - h.at > reuse_distance) || !same(h.value, o)) continue;
      use(o, h.reg);
      return;
    }
    const std::uint32_t t = f_.new_register(o.count);
    if (early == block_) load(i, o, t, code);
    known.push_back({o, t, early == block_ ? code.size() : 0});
    if (early == block_ && held_.size() > 32) held_.erase(held_.begin());
    use(o, t);
  }

  /// An address used in loops is loaded once before them, at the end of the block that leads there.
  void place_early_moves() {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      std::vector<machine_instruction>& code = f_.blocks[b].code;
      if (early_[b].empty()) continue;
      std::vector<machine_instruction> moves;
      const machine_instruction place = code.empty() ? machine_instruction{} : code.back();
      for (const held_value& h : early_[b]) load(place, h.value, h.reg, moves);
      const bool ends = !code.empty() && code.back().base.op == opcode::bra;
      code.insert(ends ? code.end() - 1 : code.end(), moves.begin(), moves.end());
    }
  }

  static void use(virtual_operand& o, std::uint32_t reg) {
    o.kind = isa::operand_kind::reg;
    o.reg = reg;
    o.part = 0;
    o.value = 0;
    o.bank = 0;
  }

  void fix(machine_instruction& i, std::vector<machine_instruction>& code) {
    if (access_ == constant_access::loads && is_uniform(i)) return;
    const bool many = takes_many_constants(i.base.op);
    if (is_value(i.src[0]) && !takes_constant(i.base.op, 0) && takes_constant(i.base.op, 1) && !is_value(i.src[1]))
      exchange_sources(i);
    if (i.base.op == opcode::iadd3 && is_value(i.src[0]) && is_value(i.src[1]) && !is_value(i.src[2]))
      std::swap(i.src[0], i.src[2]);
    bool taken = false;
    // Of a factor and a pair of words the factor takes the register: one instead of two, and the same for arrays of one
    // type. A pair that must be loaded is.
    if (i.base.op == opcode::imad && i.src[1].is_immediate() && i.src[1].count == 1 && i.src[2].is_constant() &&
        i.src[2].count == 2)
      to_register(i, i.src[access_ == constant_access::loads ? 2 : 1], code);
    for (unsigned k = 0; k < i.src.size(); ++k) {
      virtual_operand& o = i.src[k];
      if (!is_value(o)) continue;
      // The 1 of an atomic that counts lanes is part of its opcode.
      const bool may_stay = i.base.counts || (takes_constant(i.base.op, k) && (many || !taken));
      if (may_stay && !encodable(o, i) && is_double(i) && o.is_immediate() && f_.literals.size() < most_literals)
        to_literal(o);
      if (may_stay && encodable(o, i)) taken = true;
      else to_register(i, o, code);
    }
  }

  machine_function& f_;
  constant_access access_;
  std::vector<std::uint32_t> dominator_;
  std::vector<unsigned> depth_;
  std::vector<held_value> held_;
  std::vector<std::vector<held_value>> early_;  // per block: values to load at its end
  std::uint32_t block_ = 0;
};

}  // namespace

void legalise(machine_function& f, constant_access access) { legaliser(f, access).run(); }

}  // namespace heddle::ptx

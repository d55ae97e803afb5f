// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "heddle/frontend/ptx/machine/machine_passes.h"

namespace heddle::ptx {

namespace {

/// Looks for loads of several words under a guard, whose words are then copied to variables under the same guard.
class guarded_load_placer {
 public:
  explicit guarded_load_placer(machine_function& f)
      : f_(f), reads_(f.registers.size(), 0), writes_(f.registers.size(), 0), homes_(f.registers.size()) {
    for (const machine_block& b : f.blocks)
      for (const machine_instruction& i : b.code) {
        for (const virtual_operand& o : i.src)
          if (o.is_reg()) ++reads_[o.reg];
        if (i.dst.reg != no_register) ++writes_[i.dst.reg];
      }
  }

  void run() {
    for (machine_block& b : f_.blocks) {
      gone_.assign(b.code.size(), 0);
      for (std::size_t k = 0; k < b.code.size(); ++k) visit(b, k);
      std::size_t kept = 0;
      for (std::size_t k = 0; k < b.code.size(); ++k)
        if (!gone_[k]) b.code[kept++] = b.code[k];
      b.code.resize(kept);
    }
    for (machine_block& b : f_.blocks)
      for (machine_instruction& i : b.code) {
        for (virtual_operand& o : i.src)
          if (o.is_reg()) move(o);
        if (i.dst.reg != no_register) move(i.dst);
      }
  }

 private:
  static constexpr std::size_t reach = 64;  // of the copies behind their load
  static constexpr unsigned most_words = 4;
  /// The register that a variable is part of from now on.
  struct home {
    std::uint32_t reg = no_register;  // none: the variable's own
    unsigned part = 0;
  };
  struct copies {
    std::array<register_part, most_words> to;  // by word of the load
    std::array<std::size_t, most_words> at{};
    unsigned count = 0;
    std::size_t last = 0;
  };

  static bool same(const virtual_predicate& a, const virtual_predicate& b) {
    return a.reg == b.reg && a.negate == b.negate;
  }

  template <class Part>
  void move(Part& p) const {
    const home h = homes_[p.reg];
    if (h.reg == no_register) return;
    p.reg = h.reg;
    p.part = static_cast<std::uint8_t>(p.part + h.part);
  }

  void visit(machine_block& b, std::size_t k) {
    machine_instruction& load = b.code[k];
    const std::uint32_t from = load.dst.reg;
    if (load.base.op != isa::opcode::ld || load.guard.reg == no_register || from == no_register) return;
    const unsigned words = load.dst.count;
    if (words < 2 || words > most_words || f_.registers[from].words != words || writes_[from] != 1 ||
        reads_[from] != words)
      return;
    copies c;
    if (!find(b, k, c) || disturbed(b, k, c)) return;
    if (!place_in_one(load, c) && !place_all(load, c)) return;
    for (unsigned w = 0; w < words; ++w) gone_[c.at[w]] = 1;
  }

  /// The copies of all words.
  [[nodiscard]] bool find(const machine_block& b, std::size_t k, copies& c) const {
    const machine_instruction& load = b.code[k];
    const std::size_t end = std::min(b.code.size(), k + reach);
    for (std::size_t j = k + 1; j < end && c.count < load.dst.count; ++j) {
      const machine_instruction& i = b.code[j];
      const virtual_operand& s = i.src[0];
      if (!s.is_reg() || s.reg != load.dst.reg) continue;
      const bool plain = i.base.op == isa::opcode::mov && i.dst.count == 1 && s.count == 1 && !s.negate &&
                         !s.absolute && !s.invert && same(i.guard, load.guard);
      if (!plain || i.dst.reg == no_register || i.dst.reg == load.dst.reg) return false;
      c.to[s.part] = i.dst;
      c.at[s.part] = j;
      c.last = j;
      ++c.count;
    }
    return c.count == load.dst.count;
  }

  /// Between the load and the copies, something else reads or writes a variable, or the guard changes.
  [[nodiscard]] bool disturbed(const machine_block& b, std::size_t k, const copies& c) const {
    const auto is_variable = [&](std::uint32_t reg) {
      return std::any_of(c.to.begin(), c.to.begin() + c.count, [reg](const register_part& p) { return p.reg == reg; });
    };
    for (std::size_t j = k + 1; j < c.last; ++j) {
      if (std::count(c.at.begin(), c.at.begin() + c.count, j) != 0) continue;
      const machine_instruction& i = b.code[j];
      if (i.dst.reg != no_register && is_variable(i.dst.reg)) return true;
      for (const virtual_operand& o : i.src)
        if (o.is_reg() && is_variable(o.reg)) return true;
      for (const std::uint32_t p : i.pdst)
        if (p == b.code[k].guard.reg) return true;
    }
    return false;
  }

  /// The variables are neighbouring words of one register already.
  bool place_in_one(machine_instruction& load, const copies& c) const {
    register_part first = c.to[0];
    move(first);
    if (first.part % alignment_of(c.count) != 0) return false;
    for (unsigned w = 1; w < c.count; ++w) {
      register_part next = c.to[w];
      move(next);
      if (next.reg != first.reg || next.part != first.part + w) return false;
    }
    load.dst = {first.reg, first.part, load.dst.count};
    return true;
  }

  /// The variables become words of the load's register.
  bool place_all(const machine_instruction& load, const copies& c) {
    const std::uint32_t to = load.dst.reg;
    for (unsigned w = 0; w < c.count;) {
      const std::uint32_t variable = c.to[w].reg;
      const unsigned words = f_.registers[variable].words;
      if (homes_[variable].reg != no_register || is_home(variable) || words == 0 || words >= c.count ||
          w + words > c.count || w % alignment_of(words) != 0)
        return false;
      for (unsigned n = 0; n < words; ++n)
        if (c.to[w + n].reg != variable || c.to[w + n].part != n) return false;
      for (unsigned n = 0; n < w; ++n)
        if (c.to[n].reg == variable) return false;
      w += words;
    }
    for (unsigned w = 0; w < c.count; ++w)
      if (c.to[w].part == 0) homes_[c.to[w].reg] = {to, w};
    used_.push_back(to);
    f_.registers[to].temporary = f_.registers[to].whole = f_.registers[to].single = false;
    return true;
  }

  [[nodiscard]] bool is_home(std::uint32_t reg) const {
    return std::find(used_.begin(), used_.end(), reg) != used_.end();
  }

  machine_function& f_;
  std::vector<std::uint32_t> reads_, writes_;
  std::vector<home> homes_;          // by register
  std::vector<std::uint32_t> used_;  // registers that are homes
  std::vector<char> gone_;           // copies of the block
};

}  // namespace

void load_into_variables(machine_function& f) { guarded_load_placer(f).run(); }

}  // namespace heddle::ptx

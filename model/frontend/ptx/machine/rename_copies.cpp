// SPDX-License-Identifier: MIT
#include <algorithm>

#include "heddle/frontend/ptx/machine/liveness.h"
#include "heddle/frontend/ptx/machine/machine_passes.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

// How far behind a copy the last read of its original may lie, which bounds the work in huge blocks.
constexpr std::size_t reach = 8192;

bool writes(const machine_instruction& i, std::uint32_t reg) { return i.dst.reg == reg; }

class copy_renamer {
 public:
  explicit copy_renamer(machine_function& f)
      : f_(f), reads_(f.registers.size(), 0), writes_(f.registers.size(), 0), passed_(f.registers.size(), 0) {
    for (const machine_block& b : f.blocks)
      for (const machine_instruction& i : b.code) {
        for_each_read(i, [&](std::uint32_t r) { ++reads_[r]; });
        if (i.dst.reg != no_register) ++writes_[i.dst.reg];
      }
  }

  void run() {
    for (machine_block& b : f_.blocks) {
      for (std::size_t k = 0; k < b.code.size(); ++k) {
        try_copy(b, k);
        for_each_read(b.code[k], [&](std::uint32_t r) { ++passed_[r]; });
      }
      for (const machine_instruction& i : b.code) for_each_read(i, [&](std::uint32_t r) { passed_[r] = 0; });
    }
  }

 private:
  template <class F>
  static void for_each_read(const machine_instruction& i, F&& read) {
    for (const virtual_operand& o : i.src)
      if (o.is_reg()) read(o.reg);
  }

  [[nodiscard]] bool is_copy(const machine_instruction& i, std::uint32_t to, std::uint32_t from, unsigned part) const {
    return i.base.op == opcode::mov && !i.guarded() && i.dst.count == 1 && i.dst.reg == to && i.dst.part == part &&
           i.src[0].is_reg() && i.src[0].reg == from && i.src[0].part == part && !i.src[0].negate;
  }

  /// Whole registers of equal width, their words copied by neighbouring moves.
  void try_copy(machine_block& b, std::size_t k) {
    const machine_instruction& first = b.code[k];
    if (first.base.op != opcode::mov || first.dst.reg == no_register || !first.src[0].is_reg()) return;
    const std::uint32_t to = first.dst.reg, from = first.src[0].reg;
    const unsigned words = f_.registers[to].words;
    if (to == from || f_.registers[from].words != words || writes_[to] <= words) return;
    for (unsigned w = 0; w < words; ++w)
      if (k + w >= b.code.size() || !is_copy(b.code[k + w], to, from, w)) return;
    // All other reads of the original must lie before, or after within reach of the copy: until one of the two is
    // written.
    const std::size_t wanted = reads_[from] - passed_[from] - words, last = std::min(b.code.size(), k + words + reach);
    std::size_t found = 0, j = k + words;
    for (bool written = false; j < last && found < wanted && !written; ++j) {
      if (writes(b.code[j], from)) return;
      for_each_read(b.code[j], [&](std::uint32_t r) { found += r == from; });
      written = writes(b.code[j], to);
    }
    if (found == 0 || found != wanted) return;
    while (j-- > k + words)
      for (virtual_operand& o : b.code[j].src)
        if (o.is_reg() && o.reg == from) {
          o.reg = to;
          --reads_[from];
          ++reads_[to];
        }
  }

  machine_function& f_;
  std::vector<std::size_t> reads_, writes_;
  std::vector<std::size_t> passed_;  // reads in the block, before the current instruction
};

}  // namespace

void rename_after_copies(machine_function& f) { copy_renamer(f).run(); }

void compute_in_place(machine_function& f) {
  const unit_map units(f.registers);
  std::vector<std::uint32_t> reads(units.count(), 0), written(units.count(), 0);
  for (const machine_block& b : f.blocks)
    for (const machine_instruction& i : b.code) {
      for_each_use(i, f.registers, units, [&](std::uint32_t u) { ++reads[u]; });
      for_each_definition(i, units, [&](std::uint32_t u) { ++written[u]; });
    }
  for (machine_block& b : f.blocks) {
    std::vector<char> gone(b.code.size(), 0);
    for (std::size_t k = 0; k < b.code.size(); ++k) {
      const machine_instruction copy = b.code[k];
      if (copy.base.op != opcode::mov || copy.guarded() || copy.dst.reg == no_register || copy.dst.count != 1 ||
          !copy.src[0].is_reg())
        continue;
      const std::uint32_t from = units.of(copy.src[0].reg, copy.src[0].part),
                          to = units.of(copy.dst.reg, copy.dst.part);
      if (reads[from] != 1 || written[from] != 1 || copy.src[0].negate) continue;
      // Upwards to the definition; nothing in between may read the destination.
      for (std::size_t j = k; j-- > 0;) {
        if (gone[j]) continue;
        bool defines = false, meets = false;
        for_each_definition(b.code[j], units, [&](std::uint32_t u) {
          defines = defines || u == from;
          meets = meets || u == to;
        });
        if (defines) {
          machine_instruction& d = b.code[j];
          if (d.dst.count == 1 && !d.guarded() && !meets && d.dst.reg == copy.src[0].reg) {
            d.dst = copy.dst;
            gone[k] = 1;
          }
          break;
        }
        for_each_use(b.code[j], f.registers, units, [&](std::uint32_t u) { meets = meets || u == to; });
        if (meets) break;
      }
    }
    std::vector<machine_instruction> kept;
    for (std::size_t k = 0; k < b.code.size(); ++k)
      if (!gone[k]) kept.push_back(b.code[k]);
    b.code = std::move(kept);
  }
}

}  // namespace heddle::ptx

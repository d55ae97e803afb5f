// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "heddle/frontend/ptx/machine/machine_passes.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

/// A load of a constant word or pair at a known place.
bool loads_constant(const machine_instruction& i) {
  return i.base.op == opcode::ldc && !i.guarded() && !i.src[0].is_reg() && i.dst.part == 0;
}

class constant_reloader {
 public:
  explicit constant_reloader(machine_function& f) : f_(f), definitions_(f.registers.size(), 0) {}

  bool run() {
    find();
    bool changed = false;
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) changed = reload_in(b) || changed;
    if (changed) remove_dead_code(f_);
    return changed;
  }

 private:
  struct origin {
    machine_instruction load;
    std::uint32_t block;
  };

  void find() {
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b)
      for (const machine_instruction& i : f_.blocks[b].code) {
        if (i.base.dst_count == 0 || i.dst.reg == no_register) continue;
        ++definitions_[i.dst.reg];
        if (loads_constant(i) && i.base.dst_count == f_.registers[i.dst.reg].words)
          loads_.insert_or_assign(i.dst.reg, origin{i, b});
      }
    for (auto load = loads_.begin(); load != loads_.end();)
      load = definitions_[load->first] == 1 ? std::next(load) : loads_.erase(load);
  }

  /// Before the first instruction of the block that reads a constant that another block has loaded, it is loaded again.
  bool reload_in(std::uint32_t block) {
    std::map<std::uint32_t, std::uint32_t> again;  // the register of this block, by that of the first load
    std::vector<machine_instruction> code;
    code.reserve(f_.blocks[block].code.size());
    for (machine_instruction& i : f_.blocks[block].code) {
      for (virtual_operand& o : i.src) {
        if (!o.is_reg()) continue;
        const auto load = loads_.find(o.reg);
        if (load == loads_.end() || load->second.block == block) continue;
        const auto [own, is_new] = again.emplace(o.reg, no_register);
        if (is_new) {
          machine_instruction copy = load->second.load;
          own->second = f_.new_register(f_.registers[o.reg].words);
          copy.dst.reg = own->second;
          copy.base.line = i.base.line;
          copy.base.column = i.base.column;
          code.push_back(copy);
        }
        o.reg = own->second;
      }
      code.push_back(std::move(i));
    }
    f_.blocks[block].code = std::move(code);
    return !again.empty();
  }

  machine_function& f_;
  std::vector<unsigned> definitions_;
  std::map<std::uint32_t, origin> loads_;  // by register
};

}  // namespace

bool reload_constants(machine_function& f) { return constant_reloader(f).run(); }

}  // namespace heddle::ptx

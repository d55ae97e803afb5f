// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>

#include "heddle/frontend/ptx/select/code/operand_reader.h"

namespace heddle::ptx {

/// Appends machine instructions for the current instruction to a block. Temporaries are computed without guard; only
/// writes to PTX registers, predicates and memory are guarded.
class code_writer {
 public:
  code_writer(const operand_reader& in, machine_function& code);

  void set(machine_block& b) { block_ = &b; }
  [[nodiscard]] machine_block* block() const { return block_; }

  machine_instruction& put(isa::opcode op, register_part d, std::initializer_list<virtual_operand> sources);
  machine_instruction& put_predicate(isa::opcode op, std::uint32_t p, std::initializer_list<virtual_operand> sources);
  void assist(register_part d, isa::assist_function f, std::initializer_list<virtual_operand> sources,
              virtual_predicate when);
  /// Gives an instruction the guard of the current one.
  void guard(machine_instruction& i) const;
  void copy(register_part d, const virtual_operand& o);
  void move_predicate(std::uint32_t d, virtual_predicate s);
  /// Marks the block's last product of a warpgroup as the last one of its group. False: there is none, or it is
  /// guarded, or the group has ended since.
  bool mark_last_product();

  register_part temp(unsigned words = 1);
  std::uint32_t temp_predicate();
  /// The register keeps its value where a guarded instruction does not write it.
  void keep(register_part r) { code_.registers[r.reg].temporary = false; }
  /// The predicate that holds CC.CF of add.cc chains.
  [[nodiscard]] std::uint32_t carry() const { return carry_; }

  register_part begin();  // destination for building the result of several instructions
  void end(register_part r);
  void write_extended(const value& d, virtual_operand o, isa::dtype type);
  virtual_operand narrow(std::size_t k, isa::dtype type);  // 8/16-bit source extended to 32 bits
  virtual_operand extend(virtual_operand o, isa::dtype type);

 private:
  [[nodiscard]] bool is_temporary(std::uint32_t reg) const;

  const operand_reader& in_;
  machine_function& code_;
  machine_block* block_ = nullptr;
  std::uint32_t carry_ = no_register;
};

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/hir/hir.h"
#include "heddle/isa/instruction.h"

namespace heddle::ptx {

/// `count` words of a virtual register from word `part` on.
struct register_part {
  std::uint32_t reg = no_register;
  std::uint8_t part = 0;
  std::uint8_t count = 1;
};

/// Registers of more than four words begin at multiples of eight.
constexpr unsigned alignment_of(unsigned words) { return words > 4 ? 8 : words; }

/// A source operand before registers are allocated. Kind reg with no_register: RZ.
struct virtual_operand {
  isa::operand_kind kind = isa::operand_kind::none;
  std::uint32_t reg = no_register;
  std::uint8_t part = 0;
  std::uint8_t count = 1;
  std::uint8_t bank = 0;
  bool negate = false;
  bool absolute = false;
  bool invert = false;
  std::uint64_t value = 0;

  virtual_operand() = default;
  virtual_operand(register_part r) : kind(isa::operand_kind::reg), reg(r.reg), part(r.part), count(r.count) {}

  [[nodiscard]] bool is_reg() const { return kind == isa::operand_kind::reg && reg != no_register; }
  [[nodiscard]] bool is_zero_register() const { return kind == isa::operand_kind::reg && reg == no_register; }
  [[nodiscard]] bool is_immediate() const { return kind == isa::operand_kind::immediate; }
  [[nodiscard]] bool is_constant() const { return kind == isa::operand_kind::constant; }
};

/// A predicate source or guard; no_register: PT.
struct virtual_predicate {
  std::uint32_t reg = no_register;
  bool negate = false;
};

/// A machine instruction over virtual registers. `base` holds everything that is not a register.
struct machine_instruction {
  isa::instruction base;
  register_part dst;  // used when base.dst_count > 0
  std::array<std::uint32_t, 2> pdst{no_register, no_register};
  std::array<virtual_operand, 4> src{};
  std::array<virtual_predicate, 3> psrc{};
  virtual_predicate guard;
  std::uint32_t target_block = isa::no_target;
  std::uint32_t return_block = isa::no_target;  // of a call: where its lanes come back to

  [[nodiscard]] bool guarded() const { return guard.reg != no_register || guard.negate; }
};

struct machine_block {
  std::vector<machine_instruction> code;
  std::vector<std::uint32_t> successors;
};

struct machine_function {
  std::vector<machine_block> blocks;
  std::vector<virtual_register> registers;
  std::uint32_t local_bytes = 0;
  std::vector<std::uint64_t> literals;  // constant bank 2

  std::uint32_t new_register(unsigned words) {
    virtual_register r;
    r.words = static_cast<std::uint8_t>(words);
    r.bits = static_cast<std::uint8_t>(words == 0 ? 1 : words * 32 > 255 ? 255 : words * 32);
    r.temporary = true;
    registers.push_back(r);
    return static_cast<std::uint32_t>(registers.size() - 1);
  }
};

/// Whether an instruction must stay although nothing reads its result.
bool has_side_effect(const machine_instruction& i);

}  // namespace heddle::ptx

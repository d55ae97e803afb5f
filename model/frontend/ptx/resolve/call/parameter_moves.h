// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/resolve/kernel_symbol.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// A move at the place of `like`, with its guard.
hir_instruction move_like(const hir_instruction& like, value to, value from, isa::dtype type);

/// Moves parameters between their registers, their places in local memory and the registers of a program.
class parameter_moves {
 public:
  parameter_moves(block_builder& code, operand_resolver& in) : code_(code), in_(in) {}

  /// Moves `data`, elements of `bytes` bytes, between registers and a place in local memory.
  [[nodiscard]] hir_instruction access_local(ptx_op op, const kernel_symbol& place, std::uint32_t at, unsigned bytes,
                                             const std::vector<value>& data) const;
  void transfer(const kernel_symbol& to, const kernel_symbol& from);
  void transfer(const kernel_symbol& place, value data, bool store, const location& where);
  void copy_words(const kernel_symbol& to, const kernel_symbol& from);
  // ld.param and st.param of a parameter in registers.
  void load_words(const hir_instruction& h, const kernel_symbol& s, const ast_operand& address);
  void store_words(const hir_instruction& h, const kernel_symbol& s, const ast_operand& address);

 private:
  void check_place(const kernel_symbol& s, const ast_operand& address, std::uint64_t at, unsigned size) const;

  block_builder& code_;
  operand_resolver& in_;
};

}  // namespace heddle::ptx

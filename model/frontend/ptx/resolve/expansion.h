// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/resolve/block_builder.h"

namespace heddle::ptx {

/// Appends the instructions that take the place of one PTX instruction, `like`. Results of steps are new registers.
class expansion {
 public:
  expansion(block_builder& code, const hir_instruction& like) : code_(code), like_(like) {}

  [[nodiscard]] value word() const { return register_value(code_.new_register(1, 32)); }
  [[nodiscard]] value pair() const { return register_value(code_.new_register(2, 64)); }
  [[nodiscard]] value predicate() const { return register_value(code_.new_register(0, 1)); }
  [[nodiscard]] std::vector<value> words(unsigned count) const;

  /// An operation without a guard. `type`: of 32 or 64 bits.
  value make(ptx_op op, isa::dtype type, std::vector<value> sources, std::uint8_t sub = 0) const;
  [[nodiscard]] value test(isa::compare cmp, isa::dtype type, const value& a, const value& b) const;
  void put(ptx_op op, isa::dtype type, std::vector<value> destinations, std::vector<value> sources) const;
  /// The last step, which writes the destination: it has the guard of the PTX instruction.
  void finish(ptx_op op, isa::dtype type, const value& destination, std::vector<value> sources) const;

  void jump_if(const value& condition, std::uint32_t label) const;
  /// Lanes in which the PTX instruction's guard is false jump.
  void jump_unless_guarded(std::uint32_t label) const;
  /// The instruction itself, without code: selection rejects it on GPUs that do not have it.
  void require() const;

 private:
  block_builder& code_;
  const hir_instruction& like_;
};

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include "scalar_program.h"

namespace heddle::conformance {

/// One thread of a kernel of straight_module_of in the scalar reference: its loads return the operands, its store
/// delivers the result.
class straight_reference {
 public:
  explicit straight_reference(const ptx::ast_module& module)
      : program_(module, "k"), registers_(program_.registers.size()) {}

  /// operands[k]: the word at byte 4 * k. Throws reference_limit for unsupported features.
  std::uint64_t run(const std::uint32_t operands[4]);
  /// The single instruction between loads and store (possibly followed by selp of its predicate); else null.
  [[nodiscard]] const scalar_operation* only() const;

 private:
  [[nodiscard]] std::uint64_t value(const scalar_operand& o) const;

  scalar_program program_;
  std::vector<std::uint64_t> registers_;
};

}  // namespace heddle::conformance

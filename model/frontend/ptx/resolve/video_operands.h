// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/hir/video_form.h"
#include "heddle/frontend/ptx/resolve/operand_checker.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// The operands of one video instruction with the parts of registers that they select.
class video_operands {
 public:
  struct source {
    value whole;
    std::string part;
    bool negate = false;
  };

  video_operands(block_builder& code, const ast_instruction& i, const video_form& form)
      : code_(code), i_(i), form_(form) {}

  /// Throws input_error for operands that the instruction does not have.
  void read(operand_resolver& in, const operand_checker& checker);

  [[nodiscard]] const value& destination() const { return destination_; }
  /// The part selector of the destination.
  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] unsigned place_bits() const { return place_.empty() ? 32 : place_[0] == 'b' ? 8 : 16; }
  [[nodiscard]] const source& operator[](std::size_t k) const { return sources_[k]; }
  [[nodiscard]] const value& third() const;

 private:
  void read(std::size_t k, operand_resolver& in, const operand_checker& checker);
  [[nodiscard]] bool is_part(const std::string& part, bool destination) const;

  block_builder& code_;
  const ast_instruction& i_;
  const video_form& form_;
  value destination_;
  std::string place_;
  source sources_[3];
};

}  // namespace heddle::ptx

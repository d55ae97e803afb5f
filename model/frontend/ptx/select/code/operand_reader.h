// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/frontend/ptx/hir/hir.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"

namespace heddle::ptx {

/// The operands of the instruction that is being translated, as operands of machine instructions.
class operand_reader {
 public:
  operand_reader(const hir_function& f, const std::string& file);

  void set(const hir_instruction& h) { now_ = &h; }
  [[nodiscard]] const hir_instruction& now() const { return *now_; }
  [[nodiscard]] const matrix_form& matrix() const { return f_.matrix_forms[now_->form]; }
  [[nodiscard]] const warpgroup_form& warpgroup() const { return f_.warpgroup_forms[now_->form]; }
  [[nodiscard]] const texture_form& texture() const { return f_.texture_forms[now_->form]; }
  [[nodiscard]] const std::vector<virtual_register>& registers() const { return f_.registers; }

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void unsupported() const;
  void need(std::size_t sources) const;

  [[nodiscard]] virtual_operand to_operand(const value& v, isa::dtype type) const;
  [[nodiscard]] unsigned address_words(const value& v) const;
  [[nodiscard]] virtual_operand src(std::size_t k) const;  // in the instruction's type
  [[nodiscard]] virtual_operand src(std::size_t k, isa::dtype type) const;
  [[nodiscard]] virtual_operand float_src(std::size_t k, bool ftz) const;  // folds neg and abs into the operand
  [[nodiscard]] wide_value wide(std::size_t k, isa::dtype type = isa::dtype::b64) const;
  [[nodiscard]] virtual_predicate predicate(const value& v) const;
  [[nodiscard]] register_part dst(std::size_t k = 0) const;
  [[nodiscard]] std::uint32_t predicate_dst(std::size_t k = 0) const;
  /// The only instruction that writes the register; null if there are several.
  [[nodiscard]] const hir_instruction* definition(const value& v) const;
  /// Whether a register of an 8- or 16-bit type holds its value extended to 32 bits.
  [[nodiscard]] bool known_extended(const value& v, isa::dtype type) const;

 private:
  const hir_function& f_;
  const std::string& file_;
  const hir_instruction* now_ = nullptr;
  std::vector<const hir_instruction*> definitions_;
};

}  // namespace heddle::ptx

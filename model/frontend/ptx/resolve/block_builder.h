// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/frontend/ptx/hir/hir.h"
#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

/// An instruction of one type without guard and position.
hir_instruction new_instruction(ptx_op op, isa::dtype type, std::vector<value> dst, std::vector<value> src);

/// Appends instructions to the blocks of the kernel, creates registers and labels, and builds the control-flow graph.
class block_builder {
 public:
  block_builder(const std::string& file, const ast_function& kernel, hir_function& out)
      : file_(file), kernel_(kernel), out_(out) {}

  /// Throws input_error at the position.
  [[noreturn]] void fail(const location& where, const std::string& message) const;
  /// Throws malformed_code at the position.
  [[noreturn]] void refuse(const location& where, const std::string& message) const;

  /// Instructions without a position of their own get that of `i`.
  void start(const ast_instruction& i) { current_ = &i; }
  [[nodiscard]] const ast_instruction* current() const { return current_; }

  std::uint32_t new_register(unsigned words, unsigned bits) { return out_.new_register(words, bits); }
  [[nodiscard]] std::vector<virtual_register>& registers() { return out_.registers; }
  [[nodiscard]] const std::vector<virtual_register>& registers() const { return out_.registers; }

  void append(hir_instruction h);
  [[nodiscard]] std::size_t instructions() const { return instructions_; }

  std::uint32_t new_label();
  void place_label(std::uint32_t label);
  std::uint32_t branch_around(const hir_instruction& h);
  void jump(std::uint32_t label, std::uint32_t back = isa::no_target);
  void finish();

 private:
  const std::string& file_;
  const ast_function& kernel_;
  hir_function& out_;
  std::vector<std::uint32_t> label_blocks_;
  const ast_instruction* current_ = nullptr;
  std::size_t instructions_ = 0;
};

}  // namespace heddle::ptx

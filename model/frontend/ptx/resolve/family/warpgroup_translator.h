// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/hir/warpgroup_form.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// wgmma, setmaxnreg. Sources of a product: a (its descriptor, or four registers), for a sparse one its metadata, the
/// descriptor of b, whether d is added, and the registers of d.
class warpgroup_translator {
 public:
  warpgroup_translator(const std::string& file, block_builder& code, operand_resolver& in, hir_function& out)
      : file_(file), code_(code), in_(in), out_(out) {}

  void translate(hir_instruction h, const ast_instruction& i);

 private:
  void multiply(hir_instruction& h, const ast_instruction& i, warpgroup_form& form);
  void accumulators(hir_instruction& h, const ast_instruction& i, const warpgroup_form& form);
  void factor(hir_instruction& h, const ast_instruction& i, const ast_operand& o);
  void read(hir_instruction& h, const ast_instruction& i, const ast_operand& o, unsigned words);
  void immediates(const ast_instruction& i, std::size_t first, warpgroup_form& form);
  std::uint64_t literal(const ast_instruction& i, std::size_t k) const;
  void need(const ast_instruction& i, std::size_t operands) const;

  const std::string& file_;
  block_builder& code_;
  operand_resolver& in_;
  hir_function& out_;
};

}  // namespace heddle::ptx

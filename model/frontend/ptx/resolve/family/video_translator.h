// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/resolve/operand_checker.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// Video instructions, expanded to the integer instructions that chips since Maxwell use for them: parts of the
/// operands are extracted and extended, combined, clamped, and then added to c or inserted into it.
class video_translator {
 public:
  video_translator(const std::string& file, block_builder& code, operand_resolver& in, const operand_checker& checker)
      : file_(file), code_(code), in_(in), checker_(checker) {}

  void translate(const hir_instruction& h, const ast_instruction& i);

 private:
  const std::string& file_;
  block_builder& code_;
  operand_resolver& in_;
  const operand_checker& checker_;
};

}  // namespace heddle::ptx

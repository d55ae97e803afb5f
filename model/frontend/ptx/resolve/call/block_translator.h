// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// Translates the statements of a block: what calls need of the object above them, which knows all instructions.
class block_translator {
 public:
  virtual void translate(const ast_block& b) = 0;

 protected:
  ~block_translator() = default;
};

}  // namespace heddle::ptx

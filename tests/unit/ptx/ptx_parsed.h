// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/syntax/ast.h"

namespace ptx_parsed {

using namespace heddle::ptx;

inline std::shared_ptr<const ast_module> parsed(const std::string& text) {
  return parse(".version 8.0\n.target sm_80\n.address_size 64\n" + text, "t.ptx");
}

/// The first kernel's body.
inline std::shared_ptr<const ast_block> body(const std::string& text) {
  const auto m = parsed(".func f(); .entry k() {" + text + "}");
  return {m, &m->functions.at(1).body};
}

inline ast_instruction one(const std::string& text) { return body(text)->statements.at(0).instruction; }
inline ast_operand operand(const std::string& text) { return one("op " + text + ";").operands.at(0); }
inline ast_variable variable(const std::string& text) { return parsed(text)->variables.at(0); }

}  // namespace ptx_parsed

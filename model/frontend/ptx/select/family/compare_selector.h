// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/wide_integers.h"

namespace heddle::ptx {

/// Comparisons, selections and logic of predicates: setp, set, selp, slct, and, or, xor, not.
class compare_selector {
 public:
  compare_selector(const operand_reader& in, code_writer& out, wide_integers& wide) : in_(in), out_(out), wide_(wide) {}

  void set_predicate();
  void set_value();
  void select_value();
  void select_by_sign();
  void predicate_logic();

 private:
  void compare_into(std::uint32_t p, std::uint32_t q, virtual_predicate with, bool combine);

  const operand_reader& in_;
  code_writer& out_;
  wide_integers& wide_;
};

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/wide_integers.h"

namespace heddle::ptx {

/// Sums, bitwise logic, shifts, minima, absolute values and byte-wise operations of integers.
class integer_selector {
 public:
  integer_selector(const operand_reader& in, code_writer& out, wide_integers& wide) : in_(in), out_(out), wide_(wide) {}

  void add_sub();
  void add_sub_carry();
  void logic(unsigned lut);
  void shift();
  void min_max();
  void absolute_negate();
  void dot_product();
  void absolute_difference();
  void video_difference();

 private:
  void absolute_difference_wide();

  const operand_reader& in_;
  code_writer& out_;
  wide_integers& wide_;
};

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/wide_integers.h"

namespace heddle::ptx {

/// Fields, counts and permutations of bits: bfe, bfi, bmsk, szext, popc, brev, clz, bfind, prmt, shf.
class bit_selector {
 public:
  bit_selector(const operand_reader& in, code_writer& out, wide_integers& wide) : in_(in), out_(out), wide_(wide) {}

  void bit_field_extract();
  void bit_field_insert();
  void mask_bits();
  void count_bits();
  void find_leading();
  void permute();
  void funnel();

 private:
  void field_extract_wide();
  void field_insert_wide();
  virtual_operand packed_field(std::size_t position, std::size_t length);

  const operand_reader& in_;
  code_writer& out_;
  wide_integers& wide_;
};

}  // namespace heddle::ptx

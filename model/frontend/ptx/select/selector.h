// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/select/family/bit_selector.h"
#include "heddle/frontend/ptx/select/family/compare_selector.h"
#include "heddle/frontend/ptx/select/family/convert_selector.h"
#include "heddle/frontend/ptx/select/family/divide_selector.h"
#include "heddle/frontend/ptx/select/family/float_selector.h"
#include "heddle/frontend/ptx/select/family/function_selector.h"
#include "heddle/frontend/ptx/select/family/integer_divide_selector.h"
#include "heddle/frontend/ptx/select/family/integer_selector.h"
#include "heddle/frontend/ptx/select/family/memory_selector.h"
#include "heddle/frontend/ptx/select/family/move_selector.h"
#include "heddle/frontend/ptx/select/family/multiply_selector.h"
#include "heddle/frontend/ptx/select/family/system_selector.h"
#include "heddle/frontend/ptx/select/family/texture_selector.h"
#include "heddle/frontend/ptx/select/family/warp_selector.h"
#include "heddle/frontend/ptx/select/matrix/fragment_mover.h"
#include "heddle/frontend/ptx/select/matrix/matrix_products.h"
#include "heddle/frontend/ptx/select/matrix/tensor_selector.h"
#include "heddle/frontend/ptx/select/matrix/warpgroup_selector.h"
#include "heddle/frontend/ptx/select/matrix/wmma_selector.h"

namespace heddle::ptx {

/// Translates HIR to machine instructions over virtual registers, one PTX instruction at a time: hands each to the
/// object of its family. Expansions are straight-line code: blocks are not split. Registers of 8- and 16-bit types hold
/// their value in the low bits; the upper bits are undefined and must be extended before use.
class selector {
 public:
  selector(const hir_function& f, const gpu_config& gpu, const std::string& file);
  selector(const selector&) = delete;
  selector& operator=(const selector&) = delete;

  /// Throws input_error for combinations of operation and type that do not exist or that the chip does not support.
  machine_function run();

 private:
  void check_unused();
  void select(const hir_instruction& h);
  void check_types(const hir_instruction& h) const;

  struct selection;

  const hir_function& f_;
  machine_function code_;
  operand_reader in_;
  chip_limits chip_;
  code_writer out_;
  wide_integers wide_;
  products products_;
  register_runs runs_;
  matrix_products matrices_;
  fragment_mover fragments_;
  integer_selector integer_;
  bit_selector bit_;
  multiply_selector multiply_;
  float_selector float_;
  function_selector function_;
  divide_selector divide_;
  integer_divide_selector integer_divide_;
  convert_selector convert_;
  compare_selector compare_;
  memory_selector memory_;
  warp_selector warp_;
  move_selector move_;
  system_selector system_;
  tensor_selector tensor_;
  wmma_selector wmma_;
  warpgroup_selector warpgroup_;
  texture_selector texture_;
};

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/call/call_translator.h"
#include "heddle/frontend/ptx/resolve/family/address_translator.h"
#include "heddle/frontend/ptx/resolve/family/arrival_translator.h"
#include "heddle/frontend/ptx/resolve/family/barrier_translator.h"
#include "heddle/frontend/ptx/resolve/family/branch_translator.h"
#include "heddle/frontend/ptx/resolve/family/bulk_translator.h"
#include "heddle/frontend/ptx/resolve/family/copy_translator.h"
#include "heddle/frontend/ptx/resolve/family/generic_translator.h"
#include "heddle/frontend/ptx/resolve/family/integer_translator.h"
#include "heddle/frontend/ptx/resolve/family/matrix_translator.h"
#include "heddle/frontend/ptx/resolve/family/memory_translator.h"
#include "heddle/frontend/ptx/resolve/family/move_translator.h"
#include "heddle/frontend/ptx/resolve/family/stack_translator.h"
#include "heddle/frontend/ptx/resolve/family/texture_translator.h"
#include "heddle/frontend/ptx/resolve/family/video_translator.h"
#include "heddle/frontend/ptx/resolve/family/warpgroup_translator.h"

namespace heddle::ptx {

/// Translates the syntax tree of one kernel to HIR: names are resolved through the scopes, variables are placed in
/// shared and local memory, labels become blocks, and called functions are inlined. Hands each instruction to the
/// object of its family.
class resolver final : private block_translator {
 public:
  resolver(const loaded_module& m, const ast_function& kernel, hir_function& out);
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

  /// Throws input_error at the position of an element that cannot be resolved.
  void run();

 private:
  void translate(const ast_block& b) override;
  void instruction(const ast_instruction& i);
  void read_guard(hir_instruction& h, const ast_instruction& i);
  void store_and_signal(hir_instruction h, const ast_instruction& i);
  void dispatch(hir_instruction h, const ast_instruction& i);

  const loaded_module& module_;
  const ast_function& kernel_;
  hir_function& out_;
  const call_graph calls_;
  block_builder code_;
  memory_places places_;
  name_table names_;
  parameter_uses uses_;
  declarations declarations_;
  special_registers special_;
  operand_resolver in_;
  operand_checker checker_;
  open_function now_;
  parameter_moves moves_;
  kernel_parameters parameters_;
  argument_binder binder_;
  system_calls system_;
  call_stack stack_;
  outlined_functions outlined_;
  call_translator call_;
  generic_translator generic_;
  address_translator address_;
  arrival_translator arrival_;
  barrier_translator barrier_;
  branch_translator branch_;
  copy_translator copy_;
  bulk_translator bulk_;
  integer_translator integer_;
  matrix_translator matrix_;
  memory_translator memory_;
  move_translator move_;
  stack_translator stack_instructions_;
  texture_translator texture_;
  video_translator video_;
  warpgroup_translator warpgroup_;
};

}  // namespace heddle::ptx

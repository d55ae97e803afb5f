// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/call/kernel_parameters.h"
#include "heddle/frontend/ptx/resolve/family/generic_translator.h"
#include "heddle/frontend/ptx/resolve/loaded_module.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"
#include "heddle/frontend/ptx/resolve/special_registers.h"

namespace heddle::ptx {

/// Conversions and questions of addresses: cvta, isspacep, mapa, getctarank.
class address_translator {
 public:
  address_translator(const loaded_module& m, block_builder& code, operand_resolver& in, special_registers& special,
                     const kernel_parameters& parameters, generic_translator& generic)
      : module_(m), code_(code), in_(in), special_(special), parameters_(parameters), generic_(generic) {}

  void translate(hir_instruction h, const ast_instruction& i);

 private:
  void constant_address(hir_instruction h, const ast_instruction& i);
  void parameter_address(hir_instruction h, const ast_instruction& i);
  void cluster_address(hir_instruction h, const ast_instruction& i);

  const loaded_module& module_;
  block_builder& code_;
  operand_resolver& in_;
  special_registers& special_;
  const kernel_parameters& parameters_;
  generic_translator& generic_;
};

}  // namespace heddle::ptx

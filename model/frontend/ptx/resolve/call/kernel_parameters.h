// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/frontend/ptx/resolve/call/open_function.h"
#include "heddle/frontend/ptx/resolve/call/parameter_moves.h"
#include "heddle/frontend/ptx/resolve/name_table.h"
#include "heddle/frontend/ptx/resolve/parameter_uses.h"

namespace heddle::ptx {

/// The parameters of the kernel. They are in a constant bank, which has no generic addresses: those whose generic
/// address is needed are copied to local memory at the start of the kernel.
class kernel_parameters {
 public:
  struct range {
    std::uint32_t begin = 0, end = 0;
  };

  kernel_parameters(const ast_module& m, const ast_function& kernel, block_builder& code, memory_places& places,
                    name_table& names, parameter_uses& uses, parameter_moves& moves, const open_function& now)
      : module_(m),
        kernel_(kernel),
        code_(code),
        places_(places),
        names_(names),
        uses_(uses),
        moves_(moves),
        now_(now) {}

  /// Called at the start of the kernel, when its parameters are declared.
  void copy();
  /// Where the copies are in local memory.
  [[nodiscard]] range copies() const { return copies_; }
  /// What they are copies of.
  [[nodiscard]] const std::vector<isa::parameter_copy>& copied() const { return copied_; }
  /// Directs an access to .param space to local memory. False: it is to a parameter of the kernel in the constant bank.
  bool redirect(hir_instruction& h, const ast_operand& where);
  /// Rejects an access by name with an offset outside of all parameters.
  void check_bounds(const hir_instruction& h, const ast_operand& where);

 private:
  value copy_to_local(const ast_variable& v, value from);

  const ast_module& module_;
  const ast_function& kernel_;
  block_builder& code_;
  memory_places& places_;
  name_table& names_;
  parameter_uses& uses_;
  parameter_moves& moves_;
  const open_function& now_;
  bool have_addresses_ = false;  // the kernel may use addresses of its parameters, which are then copies
  range copies_;
  std::vector<isa::parameter_copy> copied_;
};

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/name_table.h"
#include "heddle/frontend/ptx/resolve/parameter_uses.h"

namespace heddle::ptx {

/// Enters the variables and labels of blocks and the parameters of the kernel into the table of names.
class declarations {
 public:
  declarations(const ast_function& kernel, block_builder& code, memory_places& places, name_table& names,
               parameter_uses& uses)
      : kernel_(kernel), code_(code), places_(places), names_(names), uses_(uses) {}

  void declare_parameters();
  void enter_block(const ast_block& b);
  void declare(const ast_variable& v, bool in_memory = false);

 private:
  void check_names(const ast_block& b) const;
  void declare_register(const ast_variable& v);

  const ast_function& kernel_;
  block_builder& code_;
  memory_places& places_;
  name_table& names_;
  parameter_uses& uses_;
};

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/resolve/memory_places.h"

namespace heddle::ptx {

/// Reads special registers: those of a thread, a grid and a cluster, clocks, environment.
class special_registers {
 public:
  special_registers(const ast_function& kernel, block_builder& code, memory_places& places)
      : kernel_(kernel), code_(code), places_(places) {}

  /// False: there is no such register.
  bool special_register(const std::string& name, value& v);
  void check_special(hir_instruction& h, const ast_operand& o) const;
  [[nodiscard]] static bool is_special(const ast_operand& given);

 private:
  value read_special(isa::special s, unsigned words);
  static bool environment_register(const std::string& number, value& v);
  bool cluster_register(const std::string& name, value& v);

  const ast_function& kernel_;
  block_builder& code_;
  memory_places& places_;
  value reserved_shared_;  // none: not used
};

}  // namespace heddle::ptx

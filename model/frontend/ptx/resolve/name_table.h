// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/frontend/ptx/resolve/kernel_symbol.h"
#include "heddle/frontend/ptx/resolve/loaded_module.h"
#include "heddle/frontend/ptx/resolve/memory_places.h"

namespace heddle::ptx {

/// Finds what names stand for: in the scopes of the current function, then in the module.
class name_table {
 public:
  /// The function whose names are visible.
  struct function_view {
    std::size_t frame = 0;   // its first scope
    std::uint32_t unit = 0;  // index of its linked module
  };

  name_table(const loaded_module& m, std::uint32_t unit, const block_builder& code, memory_places& places)
      : module_(m), code_(code), places_(places), view_{0, unit} {}

  void open(scope s = {}) { scopes_.push_back(std::move(s)); }
  scope close();
  [[nodiscard]] scope& innermost() { return scopes_.back(); }
  /// Hides all scopes. Returns what was visible, for show().
  function_view enter_function(std::uint32_t unit);
  void show(const function_view& v) { view_ = v; }

  bool find(const std::string& name, kernel_symbol& s);
  bool find_in_module(const std::string& written, kernel_symbol& s);
  [[nodiscard]] std::uint32_t find_label(const std::string& name, const location& where) const;
  [[nodiscard]] const std::string& meaning(const std::string& name) const;
  bool function_name(const ast_operand& o, value& v) const;
  [[nodiscard]] bool is_undefined(const std::string& name) const;
  [[nodiscard]] bool is_declared(const std::string& function) const;

 private:
  bool find_ranged(const std::string& name, std::size_t scope, kernel_symbol& s) const;

  const loaded_module& module_;
  const block_builder& code_;
  memory_places& places_;
  std::vector<scope> scopes_;
  function_view view_;
};

}  // namespace heddle::ptx

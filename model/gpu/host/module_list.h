// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heddle/gpu/host/module_record.h"

namespace heddle {

/// What a module defines.
struct module_names {
  std::vector<std::string> kernels, variables;  // string literals are variables, too
};

/// The modules that a driver has loaded, by their handles. All functions that take a handle throw input_error if there
/// is no such module.
class module_list {
 public:
  [[nodiscard]] module_record& at(unsigned module) const;
  [[nodiscard]] const std::vector<std::unique_ptr<module_record>>& all() const { return all_; }
  /// Returns its handle.
  unsigned add(std::unique_ptr<module_record> m);
  void clear() { all_.clear(); }

  /// The file name as used in messages about its kernels; for linked modules, all file names.
  [[nodiscard]] std::string file_of(unsigned module) const;
  /// Bits of its addresses: 32 or 64.
  [[nodiscard]] unsigned address_size(unsigned module) const;
  [[nodiscard]] module_names names(unsigned module) const;
  /// Types of a kernel's parameters as declared; none: an array, a reference, …
  [[nodiscard]] std::vector<isa::dtype> parameter_types(unsigned module, const std::string& kernel) const;
  /// The first module with this kernel. Throws input_error that lists the known kernels.
  [[nodiscard]] unsigned module_of(const std::string& kernel) const;

 private:
  std::vector<std::unique_ptr<module_record>> all_;
};

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/module_list.h"

#include <utility>

#include "heddle/config/error.h"
#include "heddle/config/suggestion.h"
#include "heddle/frontend/ptx/kernel_list.h"
#include "heddle/frontend/ptx/resolve/parameter_types.h"

namespace heddle {

module_record& module_list::at(unsigned module) const {
  if (module >= all_.size())
    throw input_error("no module " + std::to_string(module) + " is loaded, expected a handle below " +
                      std::to_string(all_.size()));
  return *all_[module];
}

std::string module_list::file_of(unsigned module) const { return at(module).module.ast->file; }

unsigned module_list::address_size(unsigned module) const { return at(module).module.ast->address_size; }

unsigned module_list::add(std::unique_ptr<module_record> m) {
  all_.push_back(std::move(m));
  return static_cast<unsigned>(all_.size() - 1);
}

module_names module_list::names(unsigned module) const {
  const ptx::loaded_module& m = at(module).module;
  module_names all{ptx::kernels(*m.ast), {}};
  for (const auto& s : m.symbols) all.variables.push_back(s.first);
  return all;
}

std::vector<isa::dtype> module_list::parameter_types(unsigned module, const std::string& kernel) const {
  return ptx::parameter_types(*at(module).module.ast, kernel);
}

unsigned module_list::module_of(const std::string& kernel) const {
  std::vector<std::string> known;
  std::vector<unsigned> weak, strong;
  for (unsigned m = 0; m < all_.size(); ++m)
    for (const ptx::ast_function& f : at(m).module.ast->functions) {
      if (!f.is_entry || !f.has_body) continue;
      if (f.name == kernel) (f.link == ptx::linkage::weak ? weak : strong).push_back(m);
      known.push_back(f.name);
    }
  if (strong.size() > 1)
    throw input_error("kernel '" + kernel + "' is in '" + file_of(strong[0]) + "' and in '" + file_of(strong[1]) +
                      "', expected it in one module");
  if (!strong.empty()) return strong[0];
  if (!weak.empty()) return weak[0];
  throw input_error("no kernel '" + kernel + "' in the loaded modules, expected one of: " +
                    (known.empty() ? "(none)" : ptx::kernel_list(known)) + suggestion(kernel, known));
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <type_traits>
#include <variant>

#include "heddle/config/parameter_table.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/syntax/parsed_modules.h"

namespace heddle::ptx {

namespace {

bool same_values(const gpu_config& a, const gpu_config& b) {
  const auto same = [](auto x, auto y) {
    if constexpr (std::is_same_v<decltype(x), choice_value>) return *x.number == *y.number;
    else return *x == *y;
  };
  return std::all_of(parameters().begin(), parameters().end(), [&](const parameter& p) {
    // The pointers are used for reading only.
    const value_pointer of_a = p.in(const_cast<gpu_config&>(a)), of_b = p.in(const_cast<gpu_config&>(b));
    return std::visit([&](auto x) { return same(x, std::get<decltype(x)>(of_b)); }, of_a);
  });
}

}  // namespace

/// A lowered kernel together with what it was made from.
struct lowered_kernel {
  std::shared_ptr<const ast_module> tree;
  std::uint64_t global_base, constant_base;
  std::string kernel;
  unsigned max_registers;
  gpu_config gpu;
  std::shared_ptr<const isa::program> program;
};

std::shared_ptr<const isa::program> lower(parsed_modules& modules, const loaded_module& m, const std::string& kernel,
                                          const gpu_config& gpu, unsigned max_registers) {
  auto& known = modules.lowered();
  known.erase(std::remove_if(known.begin(), known.end(), [](const auto& k) { return k.expired(); }), known.end());
  for (const auto& k : known) {
    const auto p = k.lock();
    if (p->tree == m.ast && p->global_base == m.global_base && p->constant_base == m.constant_base &&
        p->kernel == kernel && p->max_registers == max_registers && same_values(p->gpu, gpu))
      return {p, p->program.get()};
  }
  const auto made = std::make_shared<const lowered_kernel>(lowered_kernel{
      m.ast, m.global_base, m.constant_base, kernel, max_registers, gpu, lower(m, kernel, gpu, max_registers)});
  known.push_back(made);
  return {made, made->program.get()};
}

}  // namespace heddle::ptx

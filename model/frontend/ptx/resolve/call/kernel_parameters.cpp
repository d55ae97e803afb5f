// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/call/kernel_parameters.h"

#include <algorithm>
#include <utility>

#include "heddle/frontend/ptx/resolve/align_up.h"
#include "heddle/isa/program.h"
#include "heddle/isa/tensor_map.h"

namespace heddle::ptx {

namespace {

/// Instructions that use addresses of kernel parameters other than for the kernel's own loads.
bool shares_kernel_parameters(const ast_function& f) {
  bool found = false;
  visit_instructions(f.body, [&](const ast_instruction& i) {
    const bool generic = i.op == ptx_op::cvta || i.op == ptx_op::isspacep;
    if (found || (!generic && (f.is_entry || i.op != ptx_op::ld))) return;
    const parameters_of whose = parameters_named(i);
    found = whose == parameters_of::kernel || (generic && whose == parameters_of::any);
  });
  return found;
}

/// Instructions that name tensor maps.
bool names_maps(const ast_function& f) {
  bool found = false;
  visit_instructions(f.body, [&](const ast_instruction& i) {
    found = found || (i.op == ptx_op::cp && i.has("tensor")) || i.has("tensormap");
  });
  return found;
}

/// A CUtensorMap; nothing but the TMA unit reads it.
bool is_map(const ast_variable& v) {
  return v.size_bytes() == sizeof(isa::tensor_map) && v.alignment() >= alignof(isa::tensor_map) * 8;
}

/// The offset in local memory's window that stands for a parameter in the constant bank.
value in_parameter_window(const value& parameter) {
  return immediate_value(isa::parameter_window_base - isa::local_window_base + parameter.bits);
}

}  // namespace

void kernel_parameters::copy() {
  const std::set<std::string>& names = uses_.addressed_in(kernel_.body);
  const auto addressed = [&](const ast_variable& v) { return names.count(v.name) != 0; };
  have_addresses_ = uses_.takes_local_parameters(kernel_.body);
  if (std::none_of(kernel_.parameters.begin(), kernel_.parameters.end(), addressed)) return;
  const auto shares = [&](const ast_function& f) {
    return (!f.is_entry || &f == &kernel_) && shares_kernel_parameters(f);
  };
  const std::vector<ast_function>& functions = module_.functions;
  have_addresses_ = have_addresses_ || std::any_of(functions.begin(), functions.end(), shares);
  if (!have_addresses_) return;  // addresses in the constant bank are sufficient
  visit_instructions(kernel_.body, [&](const ast_instruction& i) {
    if (!code_.current()) code_.start(i);
  });
  copies_.begin = places_.local_bytes();
  const bool maps = std::any_of(functions.begin(), functions.end(), names_maps);
  for (const ast_variable& v : kernel_.parameters) {
    if (!addressed(v)) continue;
    kernel_symbol& s = names_.innermost().names.at(v.name);
    if (maps && is_map(v)) s.copy = in_parameter_window(s.address);
    else s.copy = copy_to_local(v, s.address);
  }
  copies_.end = places_.local_bytes();
}

value kernel_parameters::copy_to_local(const ast_variable& v, value from) {
  kernel_symbol place;
  place.address = places_.place_local(v, std::max(v.alignment(), 4u), v.size_bytes());
  const auto size = static_cast<std::uint32_t>(v.size_bytes());
  for (std::uint32_t at = 0, bytes; at < size; at += bytes) {
    bytes = std::min(v.alignment(), 8u);
    while (bytes > size - at) bytes /= 2;
    const value data = register_value(code_.new_register(bytes == 8 ? 2 : 1, bytes == 8 ? 64 : 32));
    hir_instruction load = moves_.access_local(ptx_op::ld, place, at, bytes, {data});
    load.m.space = state_space::param;
    load.src = {from};
    code_.append(std::move(load));
    code_.append(moves_.access_local(ptx_op::st, place, at, bytes, {data}));
  }
  copied_.push_back({static_cast<std::uint32_t>(place.address.bits), size, static_cast<std::uint32_t>(from.bits)});
  return place.address;
}

void kernel_parameters::check_bounds(const hir_instruction& h, const ast_operand& where) {
  kernel_symbol s;
  if (where.what != ast_operand::kind::address || !names_.find(where.text, s) ||
      s.what != kernel_symbol::kind::address || s.space != state_space::param)
    return;
  std::uint64_t end = 0;
  for (const ast_variable& v : kernel_.parameters) end = align_up(end, v.alignment()) + v.size_bytes();
  const std::int64_t first = static_cast<std::int64_t>(s.address.bits - isa::bank0::parameters) + where.offset;
  const std::int64_t bytes = static_cast<std::int64_t>(isa::size_of(h.m.type)) * h.m.vector;
  if (first < 0 || first + bytes > static_cast<std::int64_t>(end))
    code_.fail(where.where, "access outside the kernel's parameters, expected an offset from '" + where.text +
                                "' that leaves " + std::to_string(bytes) + " bytes in them");
}

bool kernel_parameters::redirect(hir_instruction& h, const ast_operand& where) {
  kernel_symbol s;
  if (where.what != ast_operand::kind::address || !names_.find(where.text, s)) return false;
  const bool by_register = s.what == kernel_symbol::kind::reg && (!now_.is_kernel() || have_addresses_);
  if (!by_register && !s.parameter) return false;
  const std::uint64_t bytes = std::uint64_t{isa::size_of(h.m.type)} * h.m.vector;
  if (s.parameter && (where.offset < 0 || static_cast<std::uint64_t>(where.offset) + bytes > s.bytes))
    code_.fail(where.where, "access outside parameter '" + where.text + "'");
  h.m.space = state_space::local;
  return true;
}

}  // namespace heddle::ptx

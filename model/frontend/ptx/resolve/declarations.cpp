// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/declarations.h"

#include <algorithm>
#include <unordered_map>

#include "heddle/frontend/ptx/resolve/align_up.h"

namespace heddle::ptx {

namespace {

unsigned words_of_type(isa::dtype t) {
  if (t == isa::dtype::pred) return 0;
  const unsigned bytes = isa::size_of(t);
  return bytes <= 4 ? 1 : bytes / 4;
}

unsigned bits_of_type(isa::dtype t) { return t == isa::dtype::pred ? 1 : isa::size_of(t) * 8; }

}  // namespace

/// Names in a block must be unique, and names in a kernel's body must differ from its parameters.
void declarations::check_names(const ast_block& b) const {
  std::unordered_map<std::string, const ast_variable*> names;
  if (&b == &kernel_.body)
    for (const ast_variable& v : kernel_.parameters) names.emplace(v.name, &v);
  for (const ast_variable& v : b.variables)
    if (!names.emplace(v.range > 0 ? range_key(v.name) : v.name, &v).second)
      code_.refuse(v.where, "'" + v.name + "' is declared twice, expected another name");
  for (const ast_variable& v : b.variables) {  // for example %r1 with %r<4>
    if (v.range > 0) continue;
    const std::size_t digits = v.name.find_last_not_of("0123456789") + 1;
    if (digits == v.name.size() || v.name.size() - digits > 9 || (v.name[digits] == '0' && v.name.size() - digits > 1))
      continue;
    const auto range = names.find(range_key(v.name.substr(0, digits)));
    if (range != names.end() && std::stoul(v.name.substr(digits)) < range->second->range)
      code_.fail(v.where, "'" + v.name + "' is declared by '" + range->second->name + "<" +
                              std::to_string(range->second->range) + ">', too, expected another name");
  }
}

void declarations::enter_block(const ast_block& b) {
  check_names(b);
  names_.open();
  for (const ast_variable& v : b.variables) declare(v, v.space == state_space::param && uses_.lives_in_memory(v, b));
  for (const ast_statement& s : b.statements) {
    if (s.what == ast_statement::kind::label) {
      if (!names_.innermost().labels.emplace(s.label, code_.new_label()).second)
        code_.refuse(s.where, "label '" + s.label + "' is defined twice");
    } else if (s.what == ast_statement::kind::branch_targets || s.what == ast_statement::kind::call_prototype ||
               s.what == ast_statement::kind::call_targets) {
      kernel_symbol t;
      t.what = kernel_symbol::kind::prototype;
      t.targets = &s;
      names_.innermost().names[s.label] = t;
    }
  }
}

void declarations::declare_register(const ast_variable& v) {
  kernel_symbol s;
  const unsigned words = words_of_type(v.type), bits = bits_of_type(v.type);
  const std::uint32_t count = std::max(v.range, 1u) * v.vector;
  if (count > (1u << 22) || code_.registers().size() + count > (1u << 24))
    code_.fail(v.where, "too many registers declared by '" + v.name + "'");
  s.first = static_cast<std::uint32_t>(code_.registers().size());
  for (std::uint32_t k = 0; k < count; ++k) code_.registers()[code_.new_register(words, bits)].type = v.type;
  if (v.range > 0) {
    s.what = kernel_symbol::kind::ranged;
    s.range = v.range;
    s.vector = v.vector;
  } else if (v.vector > 1) {
    s.what = kernel_symbol::kind::components;
    for (std::uint32_t k = 0; k < count; ++k) s.registers.push_back(s.first + k);
  }
  names_.innermost().names[v.range > 0 ? range_key(v.name) : v.name] = s;
}

void declarations::declare(const ast_variable& v, bool in_memory) {
  kernel_symbol s;
  s.what = kernel_symbol::kind::address;
  s.space = v.space;
  switch (v.space) {
    case state_space::reg: declare_register(v); return;
    case state_space::shared: s.address = places_.place_once(v); break;
    case state_space::local: s.address = places_.place_local(v, v.alignment(), v.size_bytes()); break;
    case state_space::param: {
      s.what = kernel_symbol::kind::words;
      s.size = v.size_bytes();
      if (v.size_bytes() > 4096) code_.fail(v.where, "call parameter '" + v.name + "' exceeds 4096 bytes");
      if (in_memory) {
        s.what = kernel_symbol::kind::address;
        s.space = state_space::local;
        s.parameter = true;
        s.bytes = static_cast<std::uint32_t>(align_up(v.size_bytes(), 4));
        s.address = places_.place_local(v, std::max(v.alignment(), 4u), s.bytes);
        break;
      }
      for (std::uint64_t k = 0; k < (v.size_bytes() + 3) / 4; ++k) s.registers.push_back(code_.new_register(1, 32));
      break;
    }
    default:
      if (names_.find_in_module(v.module_name, s)) break;
      code_.fail(v.where, "variable '" + v.name + "' is in a state space that a function body cannot declare");
  }
  names_.innermost().names[v.name] = s;
}

void declarations::declare_parameters() {
  names_.open();
  std::uint64_t offset = 0;
  for (const ast_variable& v : kernel_.parameters) {
    offset = align_up(offset, v.alignment());
    kernel_symbol s;
    s.what = kernel_symbol::kind::address;
    s.space = state_space::param;
    s.address = immediate_value(isa::bank0::parameters + offset);
    s.opaque = v.type == isa::dtype::none;
    offset += v.size_bytes();
    names_.innermost().names[v.name] = s;
  }
}

}  // namespace heddle::ptx

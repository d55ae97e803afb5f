// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/resolve/align_up.h"
#include "heddle/frontend/ptx/resolve/resolver.h"

namespace heddle::ptx {

namespace {

unsigned words_of_type(isa::dtype t) {
  if (t == isa::dtype::pred) return 0;
  const unsigned bytes = isa::size_of(t);
  return bytes <= 4 ? 1 : bytes / 4;
}

unsigned bits_of_type(isa::dtype t) { return t == isa::dtype::pred ? 1 : isa::size_of(t) * 8; }

// Makes the key of a range: %r<4> and a single %r may coexist, and no identifier contains this character.
std::string range_key(const std::string& name) { return name + "<"; }

}  // namespace

void resolver::fail(const location& where, const std::string& message) const {
  throw input_error(module_.ast->file, where.line, where.column, message);
}

/// Names in a block must be unique, and names in a kernel's body must differ from its parameters.
void resolver::check_names(const ast_block& b) const {
  std::unordered_map<std::string, const ast_variable*> names;
  if (&b == &kernel_.body)
    for (const ast_variable& v : kernel_.parameters) names.emplace(v.name, &v);
  for (const ast_variable& v : b.variables)
    if (!names.emplace(v.range > 0 ? range_key(v.name) : v.name, &v).second)
      fail(v.where, "'" + v.name + "' is declared twice, expected another name");
  for (const ast_variable& v : b.variables) {  // for example %r1 with %r<4>
    if (v.range > 0) continue;
    const std::size_t digits = v.name.find_last_not_of("0123456789") + 1;
    if (digits == v.name.size() || v.name.size() - digits > 9 || (v.name[digits] == '0' && v.name.size() - digits > 1))
      continue;
    const auto range = names.find(range_key(v.name.substr(0, digits)));
    if (range != names.end() && std::stoul(v.name.substr(digits)) < range->second->range)
      fail(v.where, "'" + v.name + "' is declared by '" + range->second->name + "<" +
                        std::to_string(range->second->range) + ">', too, expected another name");
  }
}

void resolver::enter_block(const ast_block& b) {
  check_names(b);
  scopes_.emplace_back();
  for (const ast_variable& v : b.variables) declare(v, v.space == state_space::param && lives_in_memory(v, b));
  for (const ast_statement& s : b.statements) {
    if (s.what == ast_statement::kind::label) {
      if (!scopes_.back().labels.emplace(s.label, new_label()).second)
        fail(s.where, "label '" + s.label + "' is defined twice");
    } else if (s.what == ast_statement::kind::branch_targets || s.what == ast_statement::kind::call_prototype ||
               s.what == ast_statement::kind::call_targets) {
      symbol t;
      t.what = symbol::kind::prototype;
      t.targets = &s;
      scopes_.back().names[s.label] = t;
    }
  }
}

void resolver::declare_register(const ast_variable& v) {
  symbol s;
  const unsigned words = words_of_type(v.type), bits = bits_of_type(v.type);
  const std::uint32_t count = std::max(v.range, 1u) * v.vector;
  if (count > (1u << 22) || out_.registers.size() + count > (1u << 24))
    fail(v.where, "too many registers declared by '" + v.name + "'");
  s.first = static_cast<std::uint32_t>(out_.registers.size());
  for (std::uint32_t k = 0; k < count; ++k) out_.registers[out_.new_register(words, bits)].type = v.type;
  if (v.range > 0) {
    s.what = symbol::kind::ranged;
    s.range = v.range;
    s.vector = v.vector;
  } else if (v.vector > 1) {
    s.what = symbol::kind::components;
    for (std::uint32_t k = 0; k < count; ++k) s.registers.push_back(s.first + k);
  }
  scopes_.back().names[v.range > 0 ? range_key(v.name) : v.name] = s;
}

void resolver::declare(const ast_variable& v, bool in_memory) {
  symbol s;
  s.what = symbol::kind::address;
  s.space = v.space;
  switch (v.space) {
    case state_space::reg: declare_register(v); return;
    case state_space::shared: s.address = place_once(v); break;
    case state_space::local: s.address = place_local(v, v.alignment(), v.size_bytes()); break;
    case state_space::param: {
      s.what = symbol::kind::words;
      s.size = v.size_bytes();
      if (v.size_bytes() > 4096) fail(v.where, "call parameter '" + v.name + "' exceeds 4096 bytes");
      if (in_memory) {
        s.what = symbol::kind::address;
        s.space = state_space::local;
        s.parameter = true;
        s.bytes = static_cast<std::uint32_t>(align_up(v.size_bytes(), 4));
        s.address = place_local(v, std::max(v.alignment(), 4u), s.bytes);
        break;
      }
      for (std::uint64_t k = 0; k < (v.size_bytes() + 3) / 4; ++k) s.registers.push_back(out_.new_register(1, 32));
      break;
    }
    default:
      if (find_in_module(v.module_name, s)) break;
      fail(v.where, "variable '" + v.name + "' is in a state space that a function body cannot declare");
  }
  scopes_.back().names[v.name] = s;
}

/// Reserves local memory; in a function that is not inlined, for each of its activations.
value resolver::place_local(const ast_variable& v, std::uint32_t align, std::uint64_t bytes) {
  if (instance_) return place_on_stack(v, align, bytes);
  const std::uint64_t start = align_up(out_.local_bytes, align);
  if (start + bytes > (1u << 19)) fail(v.where, "local memory of the kernel exceeds 512 KiB at '" + v.name + "'");
  out_.local_bytes = static_cast<std::uint32_t>(start + bytes);
  return immediate_value(start);
}

value resolver::place_shared(const ast_variable& v) {
  if (v.is_extern || (v.is_array && v.size_bytes() == 0)) {
    dynamic_shared_align_ = std::max(dynamic_shared_align_, std::max(v.alignment(), 1u));
    return constant_value(dynamic_shared_bank, 0, 1);
  }
  const std::uint64_t start = align_up(out_.shared_bytes, v.alignment());
  if (start + v.size_bytes() > (1u << 24))
    fail(v.where, "shared memory of the kernel exceeds 16 MiB at '" + v.name + "'");
  out_.shared_bytes = static_cast<std::uint32_t>(start + v.size_bytes());
  return immediate_value(start);
}

void resolver::declare_parameters() {
  scopes_.emplace_back();
  std::uint64_t offset = 0;
  for (const ast_variable& v : kernel_.parameters) {
    offset = align_up(offset, v.alignment());
    symbol s;
    s.what = symbol::kind::address;
    s.space = state_space::param;
    s.address = immediate_value(isa::bank0::parameters + offset);
    s.opaque = v.type == isa::dtype::none;
    offset += v.size_bytes();
    scopes_.back().names[v.name] = s;
  }
}

bool resolver::find_ranged(const std::string& name, std::size_t scope, symbol& s) const {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  if (digits == name.size() || name.size() - digits > 9) return false;
  if (name[digits] == '0' && name.size() - digits > 1) return false;
  // For a name such as %x1_3 declared by %x1_<8>, only the trailing digits are the register's number.
  const auto& names = scopes_[scope].names;
  for (std::size_t split = digits; split < name.size(); ++split) {
    auto it = names.find(range_key(name.substr(0, split)));
    if (it == names.end()) continue;
    const std::uint32_t index = static_cast<std::uint32_t>(std::stoul(name.substr(split)));
    if (index >= it->second.range) continue;
    s = it->second;
    s.what = s.vector > 1 ? symbol::kind::components : symbol::kind::reg;
    s.first += index * s.vector;
    for (std::uint32_t k = 0; s.vector > 1 && k < s.vector; ++k) s.registers.push_back(s.first + k);
    return true;
  }
  return false;
}

bool resolver::find(const std::string& name, symbol& s) {
  for (std::size_t k = scopes_.size(); k-- > frame_;) {
    auto it = scopes_[k].names.find(name);
    if (it == scopes_[k].names.end()) {
      if (find_ranged(name, k, s)) return true;
      continue;
    }
    s = it->second;
    return true;
  }
  return find_in_module(name, s);
}

std::uint32_t resolver::find_label(const std::string& name, const location& where) const {
  for (std::size_t k = scopes_.size(); k-- > frame_;) {
    auto it = scopes_[k].labels.find(name);
    if (it != scopes_[k].labels.end()) return it->second;
    if (scopes_[k].names.count(name) != 0)
      fail(where, "'" + name + "' is declared nearer than a label of this name, expected a label");
  }
  fail(where, "unknown label '" + name + "'");
}

value resolver::identifier(const ast_operand& o, const location&) {
  const std::string name = o.component.empty() ? o.text : o.text + "." + std::string(o.component);
  symbol s;
  if (find(o.text, s)) {
    if (s.what == symbol::kind::reg && o.component.empty()) {
      value v = register_value(s.first);
      v.negate = o.invert || o.negate;
      return o.offset == 0 ? v : sum_with(v, o);
    }
    if (s.what == symbol::kind::components && !o.component.empty()) {
      const std::size_t k = std::min(std::string("xyzw").find(o.component), std::string("rgba").find(o.component));
      if (k < s.registers.size()) return register_value(s.registers[k]);
    }
    if (s.what == symbol::kind::address && o.component.empty()) {
      if (s.opaque) return handle_of(s);
      value v = s.copy.what == value::kind::none ? s.address : s.copy;
      if (v.is_reg()) return o.offset == 0 ? v : stack_address(v, o.offset);
      v.bits += static_cast<std::uint64_t>(o.offset);
      return v;
    }
    fail(o.where, "'" + name + "' cannot be used as an operand here");
  }
  value v;
  if (special_register(name, v)) return v;
  if (function_name(o, v)) return v;
  if (is_undefined(o.text))
    fail(o.where, "'" + o.text + "' is declared .extern, and no module among those loaded defines it");
  fail(o.where, "unknown name '" + name + "' in instruction '" + current_->mnemonic() + "'");
}

value resolver::operand(const ast_operand& o, isa::dtype type, const location& where) {
  switch (o.what) {
    case ast_operand::kind::identifier: return identifier(o, where);
    case ast_operand::kind::integer:
      if (isa::is_float(type) && type != isa::dtype::f16 && type != isa::dtype::f16x2 && type != isa::dtype::bf16 &&
          o.bits != 0)
        fail(o.where, "integer literal where a floating-point operand is expected");
      return immediate_value(o.bits);
    case ast_operand::kind::f32:
      if (type == isa::dtype::f64) {
        float f;
        const std::uint32_t bits = static_cast<std::uint32_t>(o.bits);
        std::memcpy(&f, &bits, 4);
        const double d = f;
        std::uint64_t wide;
        std::memcpy(&wide, &d, 8);
        return immediate_value(wide);
      }
      return immediate_value(o.bits & 0xffffffffu);
    case ast_operand::kind::f64:
      if (type == isa::dtype::f32 || type == isa::dtype::b32) {
        double d;
        std::memcpy(&d, &o.bits, 8);
        const float f = static_cast<float>(d);
        std::uint32_t bits;
        std::memcpy(&bits, &f, 4);
        return immediate_value(bits);
      }
      return immediate_value(o.bits);
    case ast_operand::kind::sink: return value{};
    default: fail(o.where, "operand form not supported in instruction '" + current_->mnemonic() + "'");
  }
}

value resolver::destination(const ast_operand& o, const location& where) {
  if (o.what == ast_operand::kind::sink) return value{};
  if (o.what != ast_operand::kind::identifier)
    fail(o.where, "destination of '" + current_->mnemonic() + "' must be a register");
  if (o.offset != 0) fail(o.where, "destination of '" + current_->mnemonic() + "' is a sum, expected a register");
  const value v = identifier(o, where);
  if (!v.is_reg() || v.negate) fail(o.where, "destination of '" + current_->mnemonic() + "' must be a register");
  return v;
}

void resolver::elements(const ast_operand& o, isa::dtype type, std::vector<value>& to, bool write,
                        const location& where) {
  const std::vector<ast_operand> single{o};
  const std::vector<ast_operand>& list = o.what == ast_operand::kind::vector ? o.list : single;
  symbol s;
  if (o.what == ast_operand::kind::identifier && o.component.empty() && find(o.text, s) &&
      s.what == symbol::kind::components) {
    for (std::uint32_t r : s.registers) to.push_back(register_value(r));
    return;
  }
  for (const ast_operand& e : list) to.push_back(write ? destination(e, where) : operand(e, type, where));
}

void resolver::address(hir_instruction& h, const ast_operand& o) {
  if (o.what != ast_operand::kind::address) fail(o.where, "expected an address [base+offset]");
  if (!o.list.empty())
    fail(o.where, "addresses with several elements are not supported in '" + current_->mnemonic() + "'");
  h.offset = o.offset;
  if (o.text.empty()) {
    h.src.push_back(immediate_value(0));
    return;
  }
  ast_operand base;
  base.text = o.text;
  base.component = o.component;
  base.where = o.where;
  h.src.push_back(identifier(base, h.where));
  name_space(h, o);
}

}  // namespace heddle::ptx

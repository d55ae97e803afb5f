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

value resolver::read_special(isa::special s, unsigned words) {
  hir_instruction h;
  h.op = ptx_op::s2r;
  h.m.sub = static_cast<std::uint8_t>(s);
  const std::uint32_t r = out_.new_register(words, words * 32);
  h.dst.push_back(register_value(r));
  append(std::move(h));
  return register_value(r);
}

/// mov of a special register (or a function's address) accepts integers and bits of its width. Thread and block
/// indices are also accepted in 16 bits, as on the first GPUs, and %gridid also in 64 bits.
void resolver::check_special(hir_instruction& h, const ast_operand& o) const {
  if (o.text.empty() || o.text[0] != '%' || h.op == ptx_op::unpack) return;
  const auto is = [&](const char* name) { return o.text == name; };
  if (is("%is_explicit_cluster")) {
    if (h.m.type == isa::dtype::pred) return;
    fail(o.where, "'" + o.text + "' is a predicate, which '" + current_->mnemonic() + "' does not move");
  }
  const unsigned bytes = is("%clock64") || is("%globaltimer") ? 8 : 4, asked = isa::size_of(h.m.type);
  const bool place = is("%tid") || is("%ntid") || is("%ctaid") || is("%nctaid");
  if (h.m.type == isa::dtype::pred || isa::is_float(h.m.type) ||
      (asked != bytes && !(asked == 2 && place) && !(asked == 8 && is("%gridid"))))
    fail(o.where, "'" + o.text + "' has " + std::to_string(bytes * 8) + " bits, which '" + current_->mnemonic() +
                      "' does not move");
  if (asked != 8 || bytes == 8) return;
  h.op = ptx_op::cvt;
  h.m.types = 2;
  h.m.type = isa::dtype::u64;
  h.m.type2 = isa::dtype::u32;
}

// Environment registers: 1 and 2 hold the address of the grid's synchronisation workspace (upper half first), others 0.
bool resolver::environment_register(const std::string& number, value& v) const {
  if (number.empty() || number.size() > 2 || number.find_first_not_of("0123456789") != std::string::npos ||
      std::stoul(number) > 31)
    return false;
  const bool high = number == "1";
  v = high || number == "2" ? constant_value(0, isa::bank0::grid_workspace + (high ? 4 : 0), 1) : immediate_value(0);
  return true;
}

bool resolver::special_register(const std::string& name, value& v) {
  using isa::special;
  static const std::unordered_map<std::string, special> table = {{"%tid.x", special::tid_x},
                                                                 {"%tid.y", special::tid_y},
                                                                 {"%tid.z", special::tid_z},
                                                                 {"%ctaid.x", special::ctaid_x},
                                                                 {"%ctaid.y", special::ctaid_y},
                                                                 {"%ctaid.z", special::ctaid_z},
                                                                 {"%laneid", special::laneid},
                                                                 {"%warpid", special::warpid},
                                                                 {"%nwarpid", special::nwarpid},
                                                                 {"%smid", special::smid},
                                                                 {"%nsmid", special::nsmid},
                                                                 {"%lanemask_eq", special::lanemask_eq},
                                                                 {"%lanemask_lt", special::lanemask_lt},
                                                                 {"%lanemask_le", special::lanemask_le},
                                                                 {"%lanemask_gt", special::lanemask_gt},
                                                                 {"%lanemask_ge", special::lanemask_ge},
                                                                 {"%clock", special::clock},
                                                                 {"%clock_hi", special::clock_hi},
                                                                 {"%total_smem_size", special::total_smem_size},
                                                                 {"%aggr_smem_size", special::total_smem_size}};
  static const std::unordered_map<std::string, special> wide = {{"%clock64", special::clock64},
                                                                {"%globaltimer", special::globaltimer}};
  static const std::unordered_map<std::string, std::uint32_t> constants = {
      {"%ntid.x", isa::bank0::ntid},
      {"%ntid.y", isa::bank0::ntid + 4},
      {"%ntid.z", isa::bank0::ntid + 8},
      {"%nctaid.x", isa::bank0::nctaid},
      {"%nctaid.y", isa::bank0::nctaid + 4},
      {"%nctaid.z", isa::bank0::nctaid + 8},
      {"%dynamic_smem_size", isa::bank0::dynamic_shared}};
  if (auto it = constants.find(name); it != constants.end()) {
    v = constant_value(0, it->second, 1);
    return true;
  }
  if (auto it = table.find(name); it != table.end()) {
    v = read_special(it->second, 1);
    return true;
  }
  if (auto it = wide.find(name); it != wide.end()) {
    v = read_special(it->second, 2);
    return true;
  }
  if (name == "%globaltimer_lo" || name == "%globaltimer_hi") {
    const value whole = read_special(special::globaltimer, 2);
    hir_instruction h;
    h.op = ptx_op::unpack;
    h.src.push_back(whole);
    const value low = register_value(out_.new_register(1, 32)), high = register_value(out_.new_register(1, 32));
    h.dst = {low, high};
    append(std::move(h));
    v = name == "%globaltimer_lo" ? low : high;
    return true;
  }
  if (cluster_register(name, v)) return true;
  if (name.rfind("%envreg", 0) == 0) return environment_register(name.substr(7), v);
  if (name == "%gridid") {
    v = read_special(special::gridid, 1);
    return true;
  }
  return false;
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

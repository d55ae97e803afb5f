// SPDX-License-Identifier: MIT
#include "scalar_program.h"

#include <cstring>

namespace heddle::conformance {

namespace {

using ptx::ast_operand;
using ptx::state_space;

struct name_of_something {
  bool is_register = false;
  std::uint32_t reg = 0;
  state_space space = state_space::none;
  std::uint64_t offset = 0;
};

const std::map<std::string, special_register>& specials() {
  static const std::map<std::string, special_register> table = [] {
    std::map<std::string, special_register> t = {
        {"%laneid", special_register::laneid},  {"%warpid", special_register::warpid},
        {"%lanemask_eq", special_register::eq}, {"%lanemask_lt", special_register::lt},
        {"%lanemask_le", special_register::le}, {"%lanemask_gt", special_register::gt},
        {"%lanemask_ge", special_register::ge}};
    static constexpr const char* axes[] = {".x", ".y", ".z"};
    for (unsigned k = 0; k < 3; ++k) {
      t[std::string("%tid") + axes[k]] = static_cast<special_register>(k);
      t[std::string("%ntid") + axes[k]] = static_cast<special_register>(3 + k);
      t[std::string("%ctaid") + axes[k]] = static_cast<special_register>(6 + k);
      t[std::string("%nctaid") + axes[k]] = static_cast<special_register>(9 + k);
    }
    return t;
  }();
  return table;
}

/// The number of destination operands; calls and the like are not supported.
unsigned destinations(const std::string& name) {
  for (const char* none : {"st", "red", "bra", "ret", "exit", "membar", "fence", "cp"})
    if (name == none) return 0;
  return 1;
}

class resolver {
 public:
  resolver(scalar_program& p, const ptx::ast_module& module) : p_(p) {
    scopes_.emplace_back();
    for (const auto& v : module.variables) declare(v);
  }

  void kernel(const ptx::ast_function& f) {
    scopes_.emplace_back();
    for (const auto& v : f.parameters) declare(v);
    block(f.body);
    for (const auto& [step, label] : jumps_) {
      const auto at = labels_.find(label);
      if (at == labels_.end()) throw reference_limit("no label " + label);
      p_.steps[step].target = at->second;
    }
  }

 private:
  static std::uint64_t place(std::uint64_t& end, const ptx::ast_variable& v) {
    const std::uint64_t align = v.alignment();
    const std::uint64_t at = (end + align - 1) / align * align;
    end = at + v.size_bytes();
    return at;
  }

  std::uint64_t image(std::vector<std::uint8_t>& bytes, const ptx::ast_variable& v) {
    std::uint64_t end = bytes.size();
    const std::uint64_t at = place(end, v);
    bytes.resize(end);
    const unsigned element = isa::size_of(v.type);
    for (std::size_t k = 0; k < v.initialiser.size(); ++k)
      std::memcpy(&bytes[at + k * element], &v.initialiser[k].bits, element);
    return at;
  }

  void declare(const ptx::ast_variable& v) {
    auto& scope = scopes_.back();
    if (v.space == state_space::reg) {
      for (std::uint32_t k = 0; k < (v.range == 0 ? 1 : v.range); ++k) {
        name_of_something n;
        n.is_register = true;
        n.reg = static_cast<std::uint32_t>(p_.registers.size());
        p_.registers.push_back(v.type);
        scope[v.range == 0 ? v.name : v.name + std::to_string(k)] = n;
      }
      return;
    }
    name_of_something n;
    n.space = v.space;
    switch (v.space) {
      case state_space::shared: n.offset = place(p_.shared_bytes, v); break;
      case state_space::local: n.offset = place(p_.local_bytes, v); break;
      case state_space::param: n.offset = place(p_.parameter_bytes, v); break;
      case state_space::constant: n.offset = image(p_.constants, v); break;
      case state_space::global: n.offset = module_window + image(p_.globals, v); break;
      default: throw reference_limit("variable " + v.name);
    }
    scope[v.name] = n;
  }

  [[nodiscard]] const name_of_something* find(const std::string& name) const {
    for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s)
      if (auto n = s->find(name); n != s->end()) return &n->second;
    return nullptr;
  }

  [[nodiscard]] scalar_operand operand(const ast_operand& a) const {
    scalar_operand o;
    o.invert = a.invert;
    switch (a.what) {
      case ast_operand::kind::integer:
        o.what = scalar_operand::kind::integer;
        o.bits = a.bits;
        return o;
      case ast_operand::kind::f32:
        o.what = scalar_operand::kind::f32;
        o.bits = a.bits;
        return o;
      case ast_operand::kind::f64:
        o.what = scalar_operand::kind::f64;
        o.bits = a.bits;
        return o;
      case ast_operand::kind::sink: o.what = scalar_operand::kind::sink; return o;
      case ast_operand::kind::vector:
      case ast_operand::kind::pair:
        o.what = scalar_operand::kind::vector;
        for (const auto& e : a.list) o.list.push_back(operand(e));
        return o;
      case ast_operand::kind::address:
        o.what = scalar_operand::kind::address;
        o.offset = a.offset;
        if (!a.text.empty()) base(a.text, o);
        return o;
      case ast_operand::kind::identifier: break;
      default: throw reference_limit("operand " + a.text);
    }
    if (auto s = specials().find(a.text + std::string(a.component)); s != specials().end()) {
      o.what = scalar_operand::kind::special;
      o.reg = static_cast<std::uint32_t>(s->second);
      return o;
    }
    if (auto s = specials().find(a.text + "." + std::string(a.component)); s != specials().end()) {
      o.what = scalar_operand::kind::special;
      o.reg = static_cast<std::uint32_t>(s->second);
      return o;
    }
    base(a.text, o);
    o.what = o.has_base ? scalar_operand::kind::reg : scalar_operand::kind::integer;
    if (!o.has_base) o.bits += static_cast<std::uint64_t>(a.offset);
    return o;
  }

  void base(const std::string& name, scalar_operand& o) const {
    const name_of_something* n = find(name);
    if (n == nullptr) throw reference_limit("unknown name " + name);
    o.has_base = n->is_register;
    o.reg = n->reg;
    o.bits = n->offset;
  }

  static scalar_step::kind kind_of(const scalar_step& s) {
    using kind = scalar_step::kind;
    const word& n = s.op.name;
    if (n == "ld" || n == "ldu") return kind::load;
    if (n == "st") return kind::store;
    if (n == "atom" || n == "red") return kind::atomic;
    if (n == "bra") return kind::branch;
    if (n == "ret" || n == "exit") return kind::leave;
    if (n == "bar" || n == "barrier") return s.op.has("warp") ? kind::warp : kind::barrier;
    if (n == "shfl" || n == "vote" || n == "match" || n == "redux" || n == "elect") return kind::warp;
    if (n == "cp") return s.s.size() > 1 ? kind::copy : kind::nothing;
    if (n == "cvta") return kind::to_generic;
    if (n == "membar" || n == "fence") return kind::nothing;
    if (n == "mov" && (s.d[0].what == scalar_operand::kind::vector || s.s[0].what == scalar_operand::kind::vector))
      return kind::pack;
    return kind::compute;
  }

  void instruction(const ptx::ast_instruction& i) {
    scalar_step s;
    s.op = scalar_operation(i);
    s.line = i.where.line;
    if (!i.guard.empty()) {
      const name_of_something* n = find(i.guard);
      if (n == nullptr) throw reference_limit("unknown guard " + i.guard);
      s.guarded = true;
      s.guard_negate = i.guard_negate;
      s.guard = n->reg;
    }
    static const std::pair<const char*, state_space> spaces[] = {{"global", state_space::global},
                                                                 {"shared", state_space::shared},
                                                                 {"local", state_space::local},
                                                                 {"const", state_space::constant},
                                                                 {"param", state_space::param}};
    for (const auto& [word, space] : spaces)
      if (s.op.has_word(word)) s.space = space;
    const bool barrier = i.opcode == "bar" || i.opcode == "barrier";
    unsigned first = barrier ? (s.op.has("red") ? 1 : 0) : destinations(i.opcode);
    if (i.opcode == "bra") {
      jumps_.emplace_back(p_.steps.size(), i.operands.at(0).text);
    } else {
      for (std::size_t k = 0; k < i.operands.size(); ++k) (k < first ? s.d : s.s).push_back(operand(i.operands[k]));
    }
    s.what = kind_of(s);
    p_.steps.push_back(std::move(s));
  }

  void block(const ptx::ast_block& b) {
    scopes_.emplace_back();
    for (const auto& v : b.variables) declare(v);
    for (const auto& s : b.statements) {
      switch (s.what) {
        case ptx::ast_statement::kind::instruction: instruction(s.instruction); break;
        case ptx::ast_statement::kind::label: labels_[s.label] = p_.steps.size(); break;
        case ptx::ast_statement::kind::block: block(*s.block); break;
        default: throw reference_limit("indirect branches and calls");
      }
    }
    scopes_.pop_back();
  }

  scalar_program& p_;
  std::vector<std::map<std::string, name_of_something>> scopes_;
  std::map<std::string, std::size_t> labels_;
  std::vector<std::pair<std::size_t, std::string>> jumps_;
};

}  // namespace

scalar_program::scalar_program(const ptx::ast_module& module, const std::string& kernel) {
  for (const auto& f : module.functions) {
    if (f.name != kernel || !f.is_entry) continue;
    resolver(*this, module).kernel(f);
    return;
  }
  throw reference_limit("no kernel " + kernel);
}

}  // namespace heddle::conformance

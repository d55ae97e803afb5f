// SPDX-License-Identifier: MIT
// Checks of ptxas beyond the grammar of a declaration.
#include "heddle/frontend/ptx/syntax/module_rules.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

#include "heddle/config/error.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

class module_checker {
 public:
  module_checker(const ast_module& m, std::uint32_t first_line)
      : m_(m), first_line_(first_line), version_(std::strtod(m.version.c_str(), nullptr)) {}

  void run() {
    for (const ast_variable& v : m_.variables) check_variable(v);
    for (const ast_function& f : m_.functions) {
      check_linkage(f);
      f.is_entry ? check_kernel(f) : check_function(f);
      check_parameters(f);
      check_redefinition(f);
      check_block(f, f.body);
    }
    for (const ast_alias& a : m_.aliases)
      if (functions_.count(a.name) == 0)
        fail(a.where, "alias '" + a.name + "' has no declaration, expected '.func " + a.name + "();' in the module");
  }

 private:
  [[noreturn]] void fail(const location& where, const std::string& message) const {
    throw input_error(m_.file, where.line - first_line_ + 1, where.column, message);
  }

  void check_variable(const ast_variable& v) {
    const std::string name = "'" + v.name + "' ";
    if (v.space == state_space::reg || v.space == state_space::param || v.space == state_space::sreg)
      fail(v.where, name + "is declared outside of functions, expected .global, .const, .shared or .local there");
    if (v.is_extern && v.has_initialiser)
      fail(v.where, name + "is .extern and has an initial value, expected one of the two");
    check_initial_names(v);
    if (v.type_name == "samplerref" && unified())
      fail(v.where,
           name + "is a sampler, expected '.target ..., texmode_independent' for samplers apart from textures");
    const auto [at, fresh] = variables_.emplace(v.name, &v);
    if (fresh) return;
    const ast_variable& before = *at->second;
    if (!before.is_extern && !v.is_extern) fail(v.where, name + "is defined twice");
    if (before.type != v.type || before.space != v.space || before.vector != v.vector)
      fail(v.where, name + "is declared with another type or space before");
    if (v.link == linkage::internal || before.link == linkage::internal)
      fail(v.where, name + "is .extern and defined in the same module, expected .visible where it is defined");
    if (before.is_extern) at->second = &v;
  }

  /// An initialiser may refer only to earlier declarations.
  void check_initial_names(const ast_variable& v) const {
    const auto before = [&](const location& at) {
      return at.line != v.where.line ? at.line < v.where.line : at.column < v.where.column;
    };
    for (const ast_variable::initial& e : v.initialiser) {
      if (e.symbol.empty()) continue;
      bool known = false, early = false;  // undeclared names are reported when the module is placed
      bool kernel = false, defined = false;
      for (const ast_variable& w : m_.variables)
        if (w.name == e.symbol) known = true, early = early || before(w.where);
      for (const ast_function& f : m_.functions)
        if (f.name == e.symbol) {
          known = true, early = early || before(f.where), kernel = f.is_entry;
          defined = defined || f.has_body || f.link == linkage::external;
        }
      const std::string names = "initialiser of '" + v.name + "' names '" + e.symbol + "', ";
      if (known && !early) fail(v.where, names + "expected a variable, function or kernel declared before it");
      if (kernel && !defined) fail(v.where, names + "a kernel without a body, expected its definition in the module");
      if (kernel && e.generic) fail(v.where, names + "a kernel, expected generic() of a variable only");
    }
  }

  void check_linkage(const ast_function& f) const {
    if (f.link == linkage::common) fail(f.where, "'" + f.name + "' is .common, expected it of a variable");
    if (f.link == linkage::external && f.has_body)
      fail(f.where, "'" + f.name + "' is .extern and has a body, expected one of the two");
  }

  void check_kernel(const ast_function& f) const {
    const auto both = [&](const char* a, const char* b) {
      fail(f.where, "kernel '" + f.name + "' has " + a + " and " + b + ", expected one of the two");
    };
    if (f.no_return) fail(f.where, "kernel '" + f.name + "' is .noreturn, expected it of a function");
    if (f.abi_directive) fail(f.where, "kernel '" + f.name + "' has .abi_preserve, expected it of a function");
    if (f.max_threads[0] != 0 && f.required_threads[0] != 0) both(".maxntid", ".reqntid");
    if (f.required_cluster[0] != 0 && f.max_cluster_rank != 0) both(".reqnctapercluster", ".maxclusterrank");
    if (f.max_blocks != 0 && version_ >= 2.1)
      fail(f.where,
           "kernel '" + f.name + "' has .maxnctapersm, which PTX has no more since 2.1: expected .minnctapersm");
    if (f.blocks_are_clusters && (f.required_threads[0] == 0 || f.required_cluster[0] == 0))
      fail(f.where,
           "kernel '" + f.name + "' has .blocksareclusters, expected .reqntid and .reqnctapercluster beside it");
    for (const ast_variable& v : f.parameters) {
      if (v.space != state_space::param)
        fail(v.where, "'" + v.name + "' of kernel '" + f.name + "' is not in .param, expected it there");
      if (v.dims.size() > 1)
        fail(v.where,
             "'" + v.name + "' has " + std::to_string(v.dims.size()) + " dimensions, expected one of a parameter");
      if (v.is_array && v.elements() == 0)
        fail(v.where, "'" + v.name + "' is an array without elements, expected a size");
      if (v.type_name == "samplerref" && unified())
        fail(v.where,
             "'" + v.name +
                 "' is a sampler, expected '.target ..., texmode_independent' for samplers apart from textures");
    }
  }

  void check_function(const ast_function& f) const {
    if (f.max_threads[0] != 0 || f.required_threads[0] != 0 || f.min_blocks != 0 || f.max_registers != 0)
      fail(f.where,
           "'" + f.name +
               "' has limits of a kernel (.maxntid, .reqntid, .minnctapersm, .maxnreg), expected them of an .entry");
    if (f.no_return && !f.returns.empty())
      fail(f.where, "'" + f.name + "' is .noreturn and returns a value, expected one of the two");
    for (const std::vector<ast_variable>* list : {&f.returns, &f.parameters})
      for (const ast_variable& v : *list)
        if (v.space != state_space::param && v.space != state_space::reg)
          fail(v.where, "'" + v.name + "' of function '" + f.name + "' is in another space, expected .reg or .param");
    if (f.returns.size() > 1)
      for (const ast_variable& v : f.returns)
        if (v.space == state_space::param)
          fail(v.where, "'" + v.name + "' is one of several results, expected them in .reg");
  }

  void check_parameters(const ast_function& f) const {
    std::unordered_set<std::string> names;
    for (const std::vector<ast_variable>* list : {&f.returns, &f.parameters})
      for (const ast_variable& v : *list) {
        if (v.name != "_" && !names.insert(v.name).second)
          fail(v.where, "'" + v.name + "' is declared twice, expected another name");
        if (v.space != state_space::param) continue;
        if (v.type == dtype::pred) fail(v.where, "'" + v.name + "' is a predicate, expected it in .reg");
        if (v.range != 0) fail(v.where, "'" + v.name + "' is a range of names, expected one parameter");
        if (v.vector > 1 || v.type == dtype::f16x2 || v.type == dtype::bf16 || v.type == dtype::bf16x2)
          fail(v.where, "'" + v.name + "' is a vector or of type ." + v.type_name +
                            ", expected a scalar of bits, an integer or a floating-point number in .param");
      }
    for (const ast_variable& v : f.body.variables)
      if (names.count(v.name) != 0) fail(v.where, "'" + v.name + "' is declared twice, expected another name");
  }

  void check_redefinition(const ast_function& f) {
    if (variables_.count(f.name) != 0)
      fail(f.where, "'" + f.name + "' is a variable and a function, expected another name");
    const auto [at, fresh] = functions_.emplace(f.name, &f);
    if (fresh) return;
    const ast_function& before = *at->second;
    if (before.is_entry != f.is_entry)
      fail(f.where, "'" + f.name + "' is a kernel and a function, expected another name");
    if (before.has_body) fail(f.where, "'" + f.name + "' is defined before, expected another name");
    if (f.has_body && before.link == linkage::external)
      fail(f.where, "'" + f.name + "' is declared .extern and defined in the same module, expected one of the two");
    compare(f, before.returns, f.returns);
    compare(f, before.parameters, f.parameters);
    at->second = &f;
  }

  void compare(const ast_function& f, const std::vector<ast_variable>& a, const std::vector<ast_variable>& b) const {
    if (a.size() != b.size()) fail(f.where, "'" + f.name + "' is declared with another number of parameters before");
    for (std::size_t k = 0; k < a.size(); ++k)
      if (a[k].type != b[k].type || a[k].space != b[k].space || a[k].size_bytes() != b[k].size_bytes() ||
          a[k].is_array != b[k].is_array || (a[k].is_array && a[k].alignment() != b[k].alignment()))
        fail(b[k].where, "'" + b[k].name + "' is not what the declaration of '" + f.name + "' before has");
  }

  /// Checks the names of labels and label lists.
  void check_block(const ast_function& f, const ast_block& b) {
    using kind = ast_statement::kind;
    labels_.emplace_back();
    std::unordered_set<std::string> names;
    for (const ast_variable& v : b.variables) names.insert(v.name);
    if (&b == &f.body)
      for (const std::vector<ast_variable>* list : {&f.returns, &f.parameters})
        for (const ast_variable& v : *list) names.insert(v.name);
    for (const ast_statement& s : b.statements) {
      if (s.what == kind::instruction || s.what == kind::block || s.what == kind::no_unrolling) continue;
      if (names.count(s.label) != 0)
        fail(s.where, "label '" + s.label + "' is the name of a variable, too, expected another name");
      if (!labels_.back().emplace(s.label, s.what).second) fail(s.where, "label '" + s.label + "' is defined twice");
    }
    for (const ast_statement& s : b.statements) {
      if (s.block) check_block(f, *s.block);
      if (s.what == kind::branch_targets)
        for (const std::string& t : s.targets)
          if (!is_label(t)) fail(s.where, "'" + t + "' in .branchtargets, expected a label of this function");
      if (s.what == kind::call_targets)
        for (const std::string& t : s.targets)
          if (!is_function(t)) fail(s.where, "'" + t + "' in .calltargets is not a function of this module");
      if (s.what == kind::call_prototype && s.prototype->name != "_")
        fail(s.where, "'" + s.prototype->name + "' in .callprototype, expected '_' for the name");
    }
    labels_.pop_back();
  }

  bool is_label(const std::string& name) const {
    for (auto scope = labels_.rbegin(); scope != labels_.rend(); ++scope)
      if (const auto at = scope->find(name); at != scope->end()) return true;
    return false;
  }

  bool is_function(const std::string& name) {
    if (callable_.empty()) {
      for (const ast_function& f : m_.functions) callable_.insert(f.name);
      for (const ast_alias& a : m_.aliases) callable_.insert(a.name);
    }
    return callable_.count(name) != 0;
  }

  bool unified() const {
    return std::find(m_.target_options.begin(), m_.target_options.end(), "texmode_independent") ==
           m_.target_options.end();
  }

  const ast_module& m_;
  const std::uint32_t first_line_;
  const double version_;
  std::unordered_map<std::string, const ast_variable*> variables_;
  std::unordered_map<std::string, const ast_function*> functions_;
  std::unordered_set<std::string> callable_;
  std::vector<std::unordered_map<std::string, ast_statement::kind>> labels_;
};

}  // namespace

void check_module(const ast_module& m, std::uint32_t first_line) { module_checker(m, first_line).run(); }

}  // namespace heddle::ptx

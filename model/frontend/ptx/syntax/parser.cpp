// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/frontend/ptx/syntax/grammar.h"
#include "heddle/frontend/ptx/syntax/module_rules.h"

namespace heddle::ptx {

namespace {

/// .version major.minor, which comes first.
void parse_version(token_stream& tokens, ast_module& m) {
  if (!tokens.accept_directive(".version")) tokens.unexpected("'.version' at the start of the module");
  const token number = tokens.current();
  if (number.what != token::kind::f64 && number.what != token::kind::integer)
    tokens.unexpected("a version such as 8.0");
  tokens.advance();
  m.version = std::string(number.text);
}

/// .target sm_90a {, option}…
void parse_target(token_stream& tokens, ast_module& m) {
  m.target = tokens.expect_identifier("a target such as sm_80");
  while (tokens.accept(',')) m.target_options.push_back(tokens.expect_identifier("a target option"));
}

void parse_address_size(token_stream& tokens, ast_module& m) {
  const location where = tokens.current().where;
  m.address_size = tokens.expect_count("32 or 64");
  if (m.address_size != 32 && m.address_size != 64) {
    tokens.fail(where, "address size " + std::to_string(m.address_size) + ", expected 32 or 64");
  }
}

void parse_alias(token_stream& tokens, ast_module& m) {
  ast_alias alias;
  alias.where = tokens.current().where;
  alias.name = tokens.expect_identifier("the alias' name");
  tokens.expect(',');
  alias.target = tokens.expect_identifier("the name of a function");
  tokens.expect(';');
  m.aliases.push_back(std::move(alias));
}

bool accept_module_directive(token_stream& tokens, ast_module& m) {
  const auto once = [&](bool before) {
    if (before)
      tokens.fail(tokens.previous().where,
                  "'" + std::string(tokens.previous().text) + "' is given twice, expected once at the module's start");
  };
  if (tokens.accept_directive(".target")) {
    once(!m.target.empty() && (m.address_size != 0 || !m.functions.empty() || !m.variables.empty()));
    parse_target(tokens, m);
  } else if (tokens.accept_directive(".address_size")) {
    once(m.address_size != 0);
    parse_address_size(tokens, m);
  } else if (tokens.accept_directive(".alias")) {
    parse_alias(tokens, m);
  } else if (tokens.accept_directive(".version")) {
    once(true);
  } else {
    return accept_debug_directive(tokens, m.no_unrolling);
  }
  return true;
}

/// Before PTX 1.4 a kernel's parameters were declared in its body.
bool has_parameters_in_body(const ast_module& m) {
  return m.version == "1.0" || m.version == "1.1" || m.version == "1.2" || m.version == "1.3";
}

void hoist_parameters(ast_function& f) {
  std::vector<ast_variable> kept;
  for (ast_variable& v : f.body.variables)
    (v.space == state_space::param ? f.parameters : kept).push_back(std::move(v));
  f.body.variables = std::move(kept);
}

void parse_definition(token_stream& tokens, ast_module& m) {
  linkage link = linkage::internal;
  bool linked = false;
  while (accept_linkage(tokens, link)) {
    if (linked)
      tokens.fail(tokens.previous().where,
                  "'" + std::string(tokens.previous().text) +
                      "' after another linkage, expected one of .extern, .visible, .weak, .common");
    linked = true;
  }
  if (!tokens.is_directive()) tokens.unexpected(linked ? "a variable or function" : "a directive");
  const token& t = tokens.current();
  if (t.is_directive(".entry") || t.is_directive(".func")) {
    m.functions.push_back(parse_function(tokens));
    m.functions.back().link = link;
    if (m.functions.back().is_entry && has_parameters_in_body(m)) hoist_parameters(m.functions.back());
  } else if (space_of(t.text) != state_space::none) {
    parse_variables(tokens, link, m.variables);
  } else {
    tokens.fail(t.where, "unknown directive '" + std::string(t.text) +
                             "', expected a variable, a function or a directive of a module");
  }
}

/// Replaces an alias by its target under the alias name.
void resolve_aliases(ast_module& m, std::uint32_t first_line) {
  for (const ast_alias& a : m.aliases) {
    const auto called = [&](const std::string& name, bool body) {
      return std::find_if(m.functions.begin(), m.functions.end(),
                          [&](const ast_function& f) { return f.name == name && f.has_body == body && !f.is_entry; });
    };
    const auto target = called(a.target, true);
    if (target == m.functions.end())
      throw input_error(m.file, a.where.line - first_line + 1, a.where.column,
                        "alias '" + a.name + "' of '" + a.target + "', expected a function with a body in this module");
    ast_function f = *target;
    f.name = a.name;
    const auto declared = called(a.name, false);
    if (declared != m.functions.end()) *declared = std::move(f);
    else m.functions.push_back(std::move(f));
  }
}

}  // namespace

std::shared_ptr<ast_module> parse(const std::string& text, const std::string& file_name, std::uint32_t first_line) {
  const auto m = std::make_shared<ast_module>();
  m->file = file_name;
  m->address_size = 0;
  token_stream tokens(text, file_name, first_line);
  parse_version(tokens, *m);
  while (!tokens.at_end()) {
    if (!accept_module_directive(tokens, *m)) parse_definition(tokens, *m);
  }
  // PTX ISA, ".address_size": the default of a module without the directive.
  if (m->address_size == 0) m->address_size = 32;
  for (ast_function& f : m->functions) f.no_unrolling = f.no_unrolling || m->no_unrolling;
  check_module(*m, first_line);
  hoist_variables(*m);
  resolve_aliases(*m, first_line);
  m->source = tokens.debug().map();
  if (m->target.empty()) tokens.unexpected("'.target' in the module");
  return m;
}

}  // namespace heddle::ptx

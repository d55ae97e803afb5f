// SPDX-License-Identifier: MIT
#include <memory>
#include <utility>

#include "heddle/frontend/ptx/syntax/grammar.h"

namespace heddle::ptx {

namespace {

void parse_names(token_stream& tokens, const char* expected, std::vector<std::string>& out) {
  do {
    out.push_back(tokens.expect_identifier(expected));
  } while (tokens.accept(','));
  tokens.expect(';', "',' or ';'");
}

/// Parses what follows "label:": a table directive, or nothing for a plain label.
ast_statement parse_labelled(token_stream& tokens, std::string label, location where) {
  using kind = ast_statement::kind;
  ast_statement statement;
  statement.what = kind::label;
  statement.label = std::move(label);
  statement.where = where;
  if (tokens.accept_directive(".branchtargets")) {
    statement.what = kind::branch_targets;
    parse_names(tokens, "a label", statement.targets);
  } else if (tokens.accept_directive(".calltargets")) {
    statement.what = kind::call_targets;
    parse_names(tokens, "the name of a function", statement.targets);
  } else if (tokens.accept_directive(".callprototype")) {
    statement.what = kind::call_prototype;
    statement.prototype = std::make_shared<ast_function>(parse_prototype(tokens));
    statement.prototype->where = where;
    tokens.expect(';');
  }
  return statement;
}

void parse_guard(token_stream& tokens, ast_instruction& instruction) {
  if (!tokens.accept('@')) return;
  instruction.guard_negate = tokens.accept('!');
  instruction.guard = tokens.expect_identifier("a predicate register");
}

/// Parses modifiers and operands after the opcode.
void parse_rest(token_stream& tokens, ast_instruction& instruction) {
  while (tokens.is_directive()) {
    instruction.modifiers.emplace_back(tokens.current().word());
    tokens.advance();
  }
  parse_operands(tokens, instruction);
  tokens.expect(';', "',' or ';'");
}

void parse_instruction_or_label(token_stream& tokens, ast_block& block) {
  ast_statement statement;
  ast_instruction& instruction = statement.instruction;
  tokens.count_statement();
  parse_guard(tokens, instruction);
  const location where = tokens.current().where;
  instruction.where = where;
  instruction.opcode = tokens.expect_identifier("an instruction");
  if (instruction.guard.empty() && tokens.accept(':')) {
    block.statements.push_back(parse_labelled(tokens, std::move(instruction.opcode), where));
    return;
  }
  statement.where = where;
  instruction.op = find_op(instruction.opcode);
  parse_rest(tokens, instruction);
  block.statements.push_back(std::move(statement));
}

void parse_directive(token_stream& tokens, ast_block& block) {
  ast_statement rolled;
  rolled.what = ast_statement::kind::no_unrolling;
  rolled.where = tokens.current().where;
  bool no_unrolling = false;
  if (accept_debug_directive(tokens, no_unrolling)) {
    if (no_unrolling) block.statements.push_back(std::move(rolled));
    return;
  }
  linkage link = linkage::internal;
  bool linked = false;
  while (accept_linkage(tokens, link)) linked = true;
  if (tokens.is_directive() && space_of(tokens.current().text) != state_space::none) {
    if (linked)
      tokens.fail(tokens.previous().where, "'" + std::string(tokens.previous().text) +
                                               "' in a function, expected it before declarations of the module");
    parse_variables(tokens, link, block.variables);
    return;
  }
  if (linked) tokens.unexpected("a state space (.shared, .global, ...)");
  tokens.fail(tokens.current().where, "unknown directive '" + std::string(tokens.current().text) +
                                          "', expected a declaration, an instruction, a label or '}'");
}

debug_lines::position parse_position(token_stream& tokens) {
  debug_lines::position p;
  p.file = tokens.expect_count("the file's number");
  p.line = tokens.expect_count("a line");
  p.column = tokens.expect_count("a column");
  return p;
}

/// .loc file line column {, function_name label{+offset}, inlined_at file line column}
void parse_location(token_stream& tokens) {
  const std::uint32_t ptx_line = tokens.previous().where.line;
  const debug_lines::position where = parse_position(tokens);
  std::string function;
  bool is_inlined = false;
  debug_lines::position call;
  while (tokens.accept(',')) {
    const std::string word = tokens.expect_identifier("'function_name' or 'inlined_at'");
    if (word == "function_name") {
      function = tokens.expect_identifier("a label");
      parse_offset(tokens);
    } else {
      call = parse_position(tokens);
      is_inlined = true;
    }
  }
  if (is_inlined) tokens.debug().inlined(ptx_line, where, function, call);
  else tokens.debug().at(ptx_line, where);
}

/// .file number {"directory"} "name" {, timestamp, size}
void parse_file(token_stream& tokens) {
  const std::uint32_t number = tokens.expect_count("the file's number");
  std::string name(tokens.expect_string("the file's name"));
  if (tokens.current().what == token::kind::string) name += "/" + std::string(tokens.expect_string("a name"));
  tokens.debug().file(number, std::move(name));
  while (tokens.accept(',')) {
    if (tokens.current().what != token::kind::integer) tokens.unexpected("the file's time or size");
    tokens.advance();
  }
}

/// .pragma "string" {, "string"};
void parse_pragma(token_stream& tokens, bool& no_unrolling) {
  do {
    no_unrolling = tokens.expect_string("a string") == "nounroll" || no_unrolling;
  } while (tokens.accept(','));
  tokens.expect(';', "',' or ';'");
}

/// .section name { … }: DWARF data, of which the model uses only the strings of .debug_str: label: .b8 95, 90, …, 0
void parse_section(token_stream& tokens) {
  if (!tokens.is_directive() && !tokens.is_identifier()) tokens.unexpected("the section's name");
  const bool strings = tokens.current().text == ".debug_str";
  tokens.advance();
  tokens.expect('{');
  std::string label, value;
  for (unsigned depth = 1; depth != 0; tokens.advance()) {
    if (tokens.at_end()) tokens.unexpected("'}'");
    if (tokens.is('{')) ++depth;
    if (tokens.is('}')) --depth;
    if (!strings) continue;
    if (tokens.is_identifier()) {
      label = tokens.current().text;
      value.clear();
    } else if (tokens.current().what == token::kind::integer) {
      if (tokens.current().bits != 0) value += static_cast<char>(tokens.current().bits);
      else tokens.debug().text(label, std::exchange(value, {}));
    }
  }
}

}  // namespace

bool accept_debug_directive(token_stream& tokens, bool& no_unrolling) {
  if (tokens.accept_directive(".loc")) {
    parse_location(tokens);
  } else if (tokens.accept_directive(".pragma")) {
    parse_pragma(tokens, no_unrolling);
  } else if (tokens.accept_directive(".file")) {
    parse_file(tokens);
  } else if (tokens.accept_directive(".section")) {
    parse_section(tokens);
  } else {
    return false;
  }
  return true;
}

void parse_block(token_stream& tokens, ast_block& block) {
  const token_stream::nesting level(tokens);
  tokens.expect('{');
  tokens.open_scope();
  while (!tokens.is('}')) {
    if (tokens.is_directive()) {
      parse_directive(tokens, block);
    } else if (tokens.is('{')) {
      ast_statement statement;
      statement.what = ast_statement::kind::block;
      statement.where = tokens.current().where;
      statement.block = std::make_shared<ast_block>();
      parse_block(tokens, *statement.block);
      block.statements.push_back(std::move(statement));
    } else if (tokens.is_identifier() || tokens.is('@')) {
      parse_instruction_or_label(tokens, block);
    } else {
      tokens.unexpected("an instruction, a label, a declaration or '}'");
    }
  }
  tokens.close_scope();
  tokens.advance();
  block.statements.shrink_to_fit();
}

}  // namespace heddle::ptx

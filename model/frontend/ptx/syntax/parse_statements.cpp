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
  if (skip_debug_directive(tokens, no_unrolling)) {
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

/// .loc file line column {, function_name label{+offset}, inlined_at file line column}
void skip_location(token_stream& tokens) {
  tokens.expect_count("the file's number");
  tokens.expect_count("a line");
  tokens.expect_count("a column");
  while (tokens.accept(',')) {
    const std::string word = tokens.expect_identifier("'function_name' or 'inlined_at'");
    if (word == "function_name") {
      tokens.expect_identifier("a label");
      parse_offset(tokens);
    } else {
      tokens.expect_count("the file's number");
      tokens.expect_count("a line");
      tokens.expect_count("a column");
    }
  }
}

/// .file number {"directory"} "name" {, timestamp, size}
void skip_file(token_stream& tokens) {
  tokens.expect_count("the file's number");
  tokens.expect_string("the file's name");
  if (tokens.current().what == token::kind::string) tokens.advance();
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

/// Skips .section name { … }: DWARF data, which the model does not use.
void skip_section(token_stream& tokens) {
  if (!tokens.is_directive() && !tokens.is_identifier()) tokens.unexpected("the section's name");
  tokens.advance();
  tokens.expect('{');
  for (unsigned depth = 1; depth != 0; tokens.advance()) {
    if (tokens.at_end()) tokens.unexpected("'}'");
    if (tokens.is('{')) ++depth;
    if (tokens.is('}')) --depth;
  }
}

}  // namespace

bool skip_debug_directive(token_stream& tokens, bool& no_unrolling) {
  if (tokens.accept_directive(".loc")) {
    skip_location(tokens);
  } else if (tokens.accept_directive(".pragma")) {
    parse_pragma(tokens, no_unrolling);
  } else if (tokens.accept_directive(".file")) {
    skip_file(tokens);
  } else if (tokens.accept_directive(".section")) {
    skip_section(tokens);
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

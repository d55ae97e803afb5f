// SPDX-License-Identifier: MIT
#include <string>
#include <utility>

#include "heddle/frontend/ptx/syntax/grammar.h"

namespace heddle::ptx {

namespace {

std::uint32_t expect_positive(token_stream& tokens, const char* what) {
  const location where = tokens.current().where;
  const std::uint32_t count = tokens.expect_count(what);
  if (count == 0) tokens.fail(where, std::string("0, expected ") + what + " of at least 1");
  return count;
}

/// x{, y{, z}}: omitted dimensions are 1.
void parse_triple(token_stream& tokens, std::uint32_t (&out)[3]) {
  out[0] = expect_positive(tokens, "a number of threads or blocks");
  out[1] = out[2] = 1;
  for (int i = 1; i < 3 && tokens.accept(','); ++i) out[i] = expect_positive(tokens, "a number of threads or blocks");
}

bool accept_performance_directive(token_stream& tokens, ast_function& f) {
  if (tokens.accept_directive(".maxntid")) {
    parse_triple(tokens, f.max_threads);
  } else if (tokens.accept_directive(".reqntid")) {
    parse_triple(tokens, f.required_threads);
  } else if (tokens.accept_directive(".minnctapersm")) {
    f.min_blocks = expect_positive(tokens, "a number of blocks");
  } else if (tokens.accept_directive(".maxnreg")) {
    f.max_registers = expect_positive(tokens, "a number of registers");
  } else if (tokens.accept_directive(".reqnctapercluster")) {
    parse_triple(tokens, f.required_cluster);
  } else if (tokens.accept_directive(".maxnctapersm")) {  // hints for a compiler that the model ignores
    f.max_blocks = expect_positive(tokens, "a number of blocks");
  } else if (tokens.accept_directive(".maxclusterrank")) {
    f.max_cluster_rank = expect_positive(tokens, "a number of blocks");
  } else {
    return false;
  }
  return true;
}

/// Parses a directive between the head of a function and its body.
bool accept_function_directive(token_stream& tokens, ast_function& f) {
  if (accept_performance_directive(tokens, f)) return true;
  if (tokens.accept_directive(".noreturn")) {
    f.no_return = true;
    return true;
  }
  if (tokens.accept_directive(".abi_preserve") || tokens.accept_directive(".abi_preserve_control")) {
    f.abi_directive = true;
    tokens.expect_count("a number of registers");
    return true;
  }
  if (tokens.current().is_directive(".attribute")) {
    skip_attribute(tokens);
    return true;
  }
  if (tokens.accept_directive(".blocksareclusters")) {
    f.blocks_are_clusters = true;
    return true;
  }
  if (tokens.accept_directive(".explicitcluster")) {
    f.explicit_cluster = true;
    return true;
  }
  return accept_debug_directive(tokens, f.no_unrolling);
}

/// Open64 omits the ';' of a function declaration; the next definition ends it.
bool starts_definition(const token& t) {
  return t.is_directive(".func") || t.is_directive(".entry") || t.is_directive(".visible") ||
         t.is_directive(".extern") || t.is_directive(".weak") ||
         (t.what == token::kind::directive && space_of(t.text) != state_space::none);
}

/// Parses the body, or the end of a declaration.
void parse_function_body(token_stream& tokens, ast_function& f) {
  if (tokens.is('{')) {
    f.has_body = true;
    tokens.debug().unknown(tokens.current().where.line);
    parse_block(tokens, f.body);
  } else if (!tokens.accept(';') && (f.is_entry || !starts_definition(tokens.current()))) {
    if (!tokens.is_directive()) tokens.unexpected("'{' or ';'");
    tokens.fail(tokens.current().where, "unknown directive '" + std::string(tokens.current().text) +
                                            "', expected '{' or ';' after the head of '" + f.name + "'");
  }
  f.is_extern = !f.has_body;
}

}  // namespace

ast_function parse_prototype(token_stream& tokens) {
  ast_function f;
  tokens.open_scope();
  if (tokens.is('(')) f.returns = parse_parameters(tokens);
  f.name = tokens.expect_identifier("'_' or '('");
  if (tokens.is('(')) f.parameters = parse_parameters(tokens);
  tokens.close_scope();
  while (accept_function_directive(tokens, f)) {}
  return f;
}

ast_function parse_function(token_stream& tokens) {
  ast_function f;
  f.is_entry = tokens.current().is_directive(".entry");
  tokens.advance();
  tokens.open_scope();
  while (accept_function_directive(tokens, f)) {}
  if (!f.is_entry && tokens.is('(')) f.returns = parse_parameters(tokens);
  while (accept_function_directive(tokens, f)) {}
  f.where = tokens.current().where;
  f.name = tokens.expect_identifier(f.is_entry ? "the kernel's name" : "the function's name");
  if (tokens.is('(')) f.parameters = parse_parameters(tokens);
  while (accept_function_directive(tokens, f)) {}
  parse_function_body(tokens, f);
  tokens.close_scope();
  return f;
}

}  // namespace heddle::ptx

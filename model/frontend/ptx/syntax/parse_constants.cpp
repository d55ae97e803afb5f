// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/syntax/grammar.h"

namespace heddle::ptx {

namespace {

constexpr std::uint64_t warp_size = 32;

int precedence_of(const token& t) {
  if (t.what != token::kind::punctuation) return 0;
  switch (t.punctuation) {
    case symbol('|', '|'): return 1;
    case symbol('&', '&'): return 2;
    case symbol('|'): return 3;
    case symbol('^'): return 4;
    case symbol('&'): return 5;
    case symbol('=', '='):
    case symbol('!', '='): return 6;
    case symbol('<'):
    case symbol('>'):
    case symbol('<', '='):
    case symbol('>', '='): return 7;
    case symbol('<', '<'):
    case symbol('>', '>'): return 8;
    case symbol('+'):
    case symbol('-'): return 9;
    case symbol('*'):
    case symbol('/'):
    case symbol('%'): return 10;
    default: return 0;
  }
}

constant parse_unary(token_stream& tokens);

/// After '(': a cast's type with its operand, or an expression with its ')'.
constant parse_parenthesised(token_stream& tokens) {
  const bool to_signed = tokens.current().is_directive(".s64");
  if (to_signed || tokens.current().is_directive(".u64")) {
    tokens.advance();
    tokens.expect(')');
    const token first = tokens.current();
    constant value = parse_unary(tokens);
    if (!value.is_integer()) tokens.fail(first.where, "cast of a floating-point value, expected an integer");
    value.is_unsigned = !to_signed;
    return value;
  }
  const constant value = parse_constant(tokens);
  tokens.expect(')', "an operator or ')'");
  return value;
}

constant parse_primary(token_stream& tokens) {
  const token t = tokens.current();
  switch (t.what) {
    case token::kind::integer: tokens.advance(); return constant::of_integer(t.bits, t.is_unsigned);
    case token::kind::f32: tokens.advance(); return {constant::kind::f32, false, t.bits};
    case token::kind::f64: tokens.advance(); return {constant::kind::f64, false, t.bits};
    case token::kind::identifier:
      if (t.text != "WARP_SZ") break;
      tokens.advance();
      return constant::of_integer(warp_size, false);
    case token::kind::punctuation:
      if (!t.is(symbol('('))) break;
      tokens.advance();
      return parse_parenthesised(tokens);
    default: break;
  }
  tokens.unexpected("a constant");
}

constant parse_unary(token_stream& tokens) {
  const token_stream::nesting level(tokens);
  const token operation = tokens.current();
  if (!tokens.is('-') && !tokens.is('+') && !tokens.is('!') && !tokens.is('~')) return parse_primary(tokens);
  tokens.advance();
  return apply_unary(tokens, operation, parse_unary(tokens));
}

constant parse_binary(token_stream& tokens, int lowest) {
  const token_stream::nesting level(tokens);
  constant left = parse_unary(tokens);
  for (;;) {
    tokens.split_remainder();
    const token operation = tokens.current();
    const int strength = precedence_of(operation);
    if (strength < lowest || strength == 0) return left;
    tokens.advance();
    left = apply_binary(tokens, operation, left, parse_binary(tokens, strength + 1));
  }
}

}  // namespace

bool starts_constant(const token& t) {
  switch (t.what) {
    case token::kind::integer:
    case token::kind::f32:
    case token::kind::f64: return true;
    case token::kind::identifier: return t.text == "WARP_SZ";
    case token::kind::punctuation:
      return t.is(symbol('-')) || t.is(symbol('+')) || t.is(symbol('!')) || t.is(symbol('~')) || t.is(symbol('('));
    default: return false;
  }
}

constant parse_constant(token_stream& tokens, precedence lowest) {
  const constant condition = parse_binary(tokens, static_cast<int>(lowest));
  if (lowest != precedence::lowest || !tokens.accept('?')) return condition;
  const token_stream::nesting level(tokens);
  const constant chosen = parse_constant(tokens);
  tokens.expect(':', "an operator or ':'");
  const constant other = parse_constant(tokens);
  return condition.is_true() ? chosen : other;
}

std::int64_t parse_offset(token_stream& tokens) {
  std::uint64_t sum = 0;
  if (tokens.is('-')) tokens.unexpected("'+' before an offset, also a negative one: +-4");
  while (tokens.is('+') || tokens.is('-')) {
    const bool minus = tokens.is('-');
    tokens.advance();
    const token first = tokens.current();
    if (!starts_constant(first)) tokens.unexpected("a constant offset");
    const constant term = parse_constant(tokens, precedence::multiplicative);
    if (!term.is_integer()) tokens.fail(first.where, "floating-point offset, expected an integer number of bytes");
    sum += minus ? 0 - term.bits : term.bits;
  }
  return static_cast<std::int64_t>(sum);
}

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#include <iterator>
#include <utility>

#include "heddle/frontend/ptx/syntax/grammar.h"

namespace heddle::ptx {

namespace {

using kind = ast_operand::kind;

/// The meaning of parentheses and of array[index] in the instruction.
struct operand_context {
  bool is_call = false;
  bool takes_addresses = false;
};

ast_operand parse_operand(token_stream& tokens, operand_context context);

bool is_component(std::string_view word) {
  if (word.size() == 1) return std::string_view("xyzwrgba").find(word[0]) != std::string_view::npos;
  if (word.size() < 2 || word.size() > 5 || (word[0] != 'b' && word[0] != 'h')) return false;
  return word.find_first_not_of("01234567", 1) == std::string_view::npos;  // byte and half selectors of video operands
}

ast_operand made(kind what, location where) {
  ast_operand operand;
  operand.what = what;
  operand.where = where;
  return operand;
}

ast_operand parse_literal(token_stream& tokens) {
  const token first = tokens.current();
  const constant value = parse_constant(tokens);
  ast_operand operand = made(kind::integer, first.where);
  if (value.what == constant::kind::f32) operand.what = kind::f32;
  if (value.what == constant::kind::f64) operand.what = kind::f64;
  operand.bits = value.bits;
  operand.text = tokens.spelling_from(first);
  return operand;
}

/// Parses elements up to `close`; the current token is the opening bracket.
void parse_elements(token_stream& tokens, operand_context context, char close, std::vector<ast_operand>& out) {
  tokens.advance();
  if (tokens.accept(close)) return;
  const char expected[] = {'\'', ',', '\'', ' ', 'o', 'r', ' ', '\'', close, '\'', '\0'};
  do {
    out.push_back(parse_operand(tokens, context));
  } while (tokens.accept(','));
  tokens.expect(close, expected);
}

ast_operand parse_address(token_stream& tokens) {
  ast_operand operand = made(kind::address, tokens.current().where);
  tokens.advance();
  if (tokens.is_identifier() && tokens.current().text != "WARP_SZ") {
    operand.text = tokens.expect_identifier("a register");
    operand.offset = parse_offset(tokens);
  } else if (starts_constant(tokens.current())) {
    const token first = tokens.current();
    const constant place = parse_constant(tokens);
    if (!place.is_integer()) tokens.fail(first.where, "floating-point address, expected an integer");
    operand.offset = static_cast<std::int64_t>(place.bits);
  } else {
    tokens.unexpected("a register, a variable or a constant address");
  }
  while (tokens.accept(',')) operand.list.push_back(parse_operand(tokens, {}));
  tokens.expect(']', operand.list.empty() && operand.offset == 0 ? "'+', ',' or ']'" : "',' or ']'");
  return operand;
}

/// array[constant]: the address, or for a move the value, of one element.
void parse_index(token_stream& tokens, operand_context context, ast_operand& operand) {
  tokens.advance();
  const token first = tokens.current();
  if (!starts_constant(first)) tokens.unexpected("a constant index");
  const constant index = parse_constant(tokens);
  if (!index.is_integer()) tokens.fail(first.where, "floating-point index, expected an integer");
  const std::uint64_t stride = tokens.index_stride(operand.text);
  if (stride == 0) tokens.fail(operand.where, "'" + operand.text + "' is indexed, expected an array declared above");
  tokens.expect(']', "an operator or ']'");
  operand.offset = static_cast<std::int64_t>(index.bits * stride);
  if (!context.takes_addresses) operand.what = kind::address;
}

ast_operand parse_identifier(token_stream& tokens, operand_context context) {
  ast_operand operand = made(kind::identifier, tokens.current().where);
  operand.text = tokens.expect_identifier("an operand");
  if (operand.text == "_") operand.what = kind::sink;
  if (operand.what == kind::sink) return operand;
  if (tokens.is_directive()) {
    if (!is_component(tokens.current().word()))
      tokens.unexpected("a component (.x, .y, .z, .w, or .r, .g, .b, .a) or ','");
    operand.component = tokens.current().word();
    tokens.advance();
  } else if (tokens.is('[')) {
    parse_index(tokens, context, operand);
  } else {
    operand.offset = parse_offset(tokens);
  }
  return operand;
}

/// -%r1, !%p1, or an expression that begins with a sign.
ast_operand parse_signed(token_stream& tokens, operand_context context) {
  const token next = tokens.peek();
  if (next.what != token::kind::identifier || next.text == "WARP_SZ") return parse_literal(tokens);
  const location where = tokens.current().where;
  const bool inverts = tokens.is('!');
  tokens.advance();
  ast_operand operand = parse_identifier(tokens, context);
  if (operand.what != kind::identifier || operand.offset != 0) {
    tokens.fail(where, std::string("'") + (inverts ? '!' : '-') + "' before '" + operand.text +
                           "', expected it before a register");
  }
  (inverts ? operand.invert : operand.negate) = true;
  operand.where = where;
  return operand;
}

ast_operand parse_simple(token_stream& tokens, operand_context context) {
  const token& t = tokens.current();
  if (t.what == token::kind::identifier && t.text != "WARP_SZ") return parse_identifier(tokens, context);
  if (tokens.is('[')) return parse_address(tokens);
  if (tokens.is('{')) {
    ast_operand operand = made(kind::vector, t.where);
    parse_elements(tokens, {}, '}', operand.list);
    return operand;
  }
  if (tokens.is('(') && context.is_call) {
    ast_operand operand = made(kind::list, t.where);
    parse_elements(tokens, {}, ')', operand.list);
    return operand;
  }
  if (tokens.is('-') || tokens.is('!')) return parse_signed(tokens, context);
  if (starts_constant(t)) return parse_literal(tokens);
  tokens.unexpected("an operand");
}

ast_operand parse_operand(token_stream& tokens, operand_context context) {
  const token_stream::nesting level(tokens);
  ast_operand first = parse_simple(tokens, context);
  if (!tokens.is('|')) return first;
  tokens.advance();
  ast_operand pair = made(kind::pair, first.where);
  pair.list.reserve(2);
  pair.list.push_back(std::move(first));
  pair.list.push_back(parse_simple(tokens, context));
  return pair;
}

bool starts_operand(const token_stream& tokens) {
  return tokens.is_identifier() || tokens.is('[') || tokens.is('{') || starts_constant(tokens.current());
}

}  // namespace

void parse_operands(token_stream& tokens, ast_instruction& instruction) {
  if (tokens.is(';')) return;
  if (!starts_operand(tokens)) tokens.unexpected("an operand or ';'");
  operand_context context;
  context.is_call = instruction.op == ptx_op::call;
  context.takes_addresses = instruction.op == ptx_op::mov || instruction.op == ptx_op::cvta;
  std::vector<ast_operand> operands;
  operands.reserve(4);
  do {
    operands.push_back(parse_operand(tokens, context));
  } while (tokens.accept(','));
  if (!tokens.is(';')) tokens.unexpected("',' or ';'");
  instruction.operands.assign(std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end()));
}

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/syntax/token_stream.h"

#include "heddle/config/error.h"

namespace heddle::ptx {

namespace {

std::string described(const token& t) {
  constexpr std::size_t longest = 60;
  switch (t.what) {
    case token::kind::end: return "end of file";
    case token::kind::string: return "string";
    default: break;
  }
  if (t.text.size() <= longest) return "'" + std::string(t.text) + "'";
  return "'" + std::string(t.text.substr(0, longest)) + "...'";
}

}  // namespace

token_stream::token_stream(std::string_view source, const std::string& file_name, std::uint32_t first_line)
    : lexer_(source, file_name, first_line) {
  current_ = lexer_.next();
  open_scope();
}

token token_stream::peek() const {
  lexer copy = lexer_;
  return copy.next();
}

void token_stream::follow_brackets() {
  if (current_.what != token::kind::punctuation) return;
  if (is('{') || is('(') || is('[')) {
    open_brackets_.push_back(current_);
  } else if (is('}') || is(')') || is(']')) {
    const char opening = is('}') ? '{' : is(')') ? '(' : '[';
    // Skipped content may have other unbalanced brackets: they close with the surrounding bracket.
    while (!open_brackets_.empty()) {
      const bool matches = open_brackets_.back().is(symbol(opening));
      open_brackets_.pop_back();
      if (matches) break;
    }
  }
}

void token_stream::advance() {
  follow_brackets();
  previous_ = current_;
  current_ = lexer_.next();
}

void token_stream::split_remainder() {
  if (is_identifier() && current_.text.front() == '%') current_ = lexer_.first_character(current_);
}

void token_stream::count_statement() {
  if (++statements_ > most_statements)
    fail(current_.where,
         "the module is too large, expected at most " + std::to_string(most_statements) + " instructions and labels");
}

bool token_stream::accept(char p) {
  if (!is(p)) return false;
  advance();
  return true;
}

bool token_stream::accept_directive(std::string_view with_dot) {
  if (!current_.is_directive(with_dot)) return false;
  advance();
  return true;
}

void token_stream::expect(char p) {
  const char quoted[] = {'\'', p, '\'', '\0'};
  expect(p, quoted);
}

void token_stream::expect(char p, const char* expected) {
  if (!accept(p)) unexpected(expected);
}

std::string token_stream::expect_identifier(const char* expected) {
  if (!is_identifier()) unexpected(expected);
  std::string text(current_.text);
  advance();
  return text;
}

std::uint32_t token_stream::expect_count(const char* what, std::uint32_t maximum) {
  if (current_.what != token::kind::integer) unexpected(what);
  if (current_.bits > maximum) {
    fail(current_.where, "'" + std::string(current_.text) + "' is too large, expected " + what + " of at most " +
                             std::to_string(maximum));
  }
  const auto value = static_cast<std::uint32_t>(current_.bits);
  advance();
  return value;
}

std::string_view token_stream::expect_string(const char* expected) {
  if (current_.what != token::kind::string) unexpected(expected);
  const std::string_view text = current_.text.substr(1, current_.text.size() - 2);
  advance();
  return text;
}

void token_stream::unexpected(const char* expected) const {
  if (at_end() && !open_brackets_.empty()) {
    const token& open = open_brackets_.back();
    const char closing = open.is(symbol('{')) ? '}' : open.is(symbol('(')) ? ')' : ']';
    fail(open.where, "unterminated " + described(open) + ", expected '" + closing + "' before the end of the file");
  }
  fail(current_.where, "unexpected " + described(current_) + ", expected " + expected);
}

std::string token_stream::spelling_from(const token& first) const {
  const char* end = previous_.text.data() + previous_.text.size();
  return {first.text.data(), static_cast<std::size_t>(end - first.text.data())};
}

token_stream::nesting::nesting(token_stream& tokens) : tokens_(tokens) {
  if (tokens_.depth_ == depth_limit) {
    tokens_.fail(tokens_.current_.where,
                 "nested too deeply, expected at most " + std::to_string(depth_limit) + " levels");
  }
  ++tokens_.depth_;
}

void token_stream::declare(const ast_variable& variable) {
  if (variable.range != 0) return;
  // Scalars are recorded only if they could hide an array of an outer scope.
  if (!variable.is_array && (scopes_.size() == 1 || index_stride(variable.name) == 0)) return;
  std::uint64_t stride = variable.is_array ? variable.element_bytes() : 0;
  for (std::size_t i = 1; i < variable.dims.size(); ++i) stride *= static_cast<std::uint64_t>(variable.dims[i]);
  scopes_.back()[variable.name] = stride;
}

std::uint64_t token_stream::index_stride(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(name);
    if (found != scope->end()) return found->second;
  }
  return 0;
}

}  // namespace heddle::ptx

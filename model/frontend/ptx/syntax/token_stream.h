// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/frontend/ptx/syntax/lexer.h"

namespace heddle::ptx {

/// The parser's cursor: the current token, the ways to check it and go on, and what every topic of the grammar shares
/// (nesting limit, arrays in scope). All errors are input_error at the current token unless a place is given.
class token_stream {
 public:
  token_stream(std::string_view source, const std::string& file_name, std::uint32_t first_line = 1);

  const token& current() const { return current_; }
  /// The token after the current one.
  token peek() const;
  /// The token taken last.
  const token& previous() const { return previous_; }
  /// Takes the current token.
  void advance();

  /// Where a value is complete: a name that begins with % is the remainder operator and what it is applied to.
  void split_remainder();

  /// Counts an instruction or label of the module, at the current token; throws input_error where there are too many
  /// for the memory that they take.
  void count_statement();

  bool is(char p) const { return current_.is(symbol(p)); }
  bool is_identifier() const { return current_.what == token::kind::identifier; }
  bool is_directive() const { return current_.what == token::kind::directive; }
  bool at_end() const { return current_.what == token::kind::end; }

  /// Takes the punctuation if it is the current token.
  bool accept(char p);
  bool accept_directive(std::string_view with_dot);
  /// Takes what must come; the error names what is there instead and `expected`.
  void expect(char p);
  void expect(char p, const char* expected);
  std::string expect_identifier(const char* expected);
  /// A non-negative integer literal of at most `maximum`. `what` names it in the errors.
  std::uint32_t expect_count(const char* what, std::uint32_t maximum = UINT32_MAX);
  std::string_view expect_string(const char* expected);

  /// "unexpected X, expected Y" at the current token; at the end of the file, the bracket that is still open, at its
  /// place.
  [[noreturn]] void unexpected(const char* expected) const;
  [[noreturn]] void fail(location where, const std::string& message) const { lexer_.fail(where, message); }

  /// Source text from a token to the one taken last.
  std::string spelling_from(const token& first) const;

  /// While it lives one more level of nesting counts; throws input_error beyond 256 levels, so that no input exhausts
  /// the stack.
  class nesting {
   public:
    explicit nesting(token_stream& tokens);
    ~nesting() { --tokens_.depth_; }
    nesting(const nesting&) = delete;
    nesting& operator=(const nesting&) = delete;

   private:
    token_stream& tokens_;
  };

  /// Names declared per scope with the bytes of one element, so that array[2] becomes a byte offset at once.
  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }
  void declare(const ast_variable& variable);
  /// Bytes that one step of a[i] covers (a row for several dimensions); 0 if `name` is no array in scope.
  std::uint64_t index_stride(const std::string& name) const;

 private:
  static constexpr unsigned depth_limit = 256;
  static constexpr std::uint32_t most_statements = 400'000;

  void follow_brackets();

  lexer lexer_;
  token current_;
  token previous_;
  unsigned depth_ = 0;
  std::uint32_t statements_ = 0;
  std::vector<token> open_brackets_;
  std::vector<std::unordered_map<std::string, std::uint64_t>> scopes_;  // only ever looked up, never iterated
};

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/frontend/ptx/syntax/debug_lines.h"
#include "heddle/frontend/ptx/syntax/lexer.h"

namespace heddle::ptx {

/// The parser's cursor: the current token, functions to check and consume it, and state shared by the whole grammar
/// (nesting limit, arrays in scope). All errors are input_error at the current token unless a position is given.
class token_stream {
 public:
  token_stream(std::string_view source, const std::string& file_name, std::uint32_t first_line = 1);

  [[nodiscard]] const token& current() const { return current_; }
  /// The token after the current one.
  [[nodiscard]] token peek() const;
  /// The token consumed last.
  [[nodiscard]] const token& previous() const { return previous_; }
  /// Consumes the current token.
  void advance();

  /// Called after a complete value: splits a name that begins with % into the remainder operator and its operand.
  void split_remainder();

  /// Counts an instruction or label of the module at the current token; throws input_error if there are too many for
  /// the memory they need.
  void count_statement();

  [[nodiscard]] bool is(char p) const { return current_.is(symbol(p)); }
  [[nodiscard]] bool is_identifier() const { return current_.what == token::kind::identifier; }
  [[nodiscard]] bool is_directive() const { return current_.what == token::kind::directive; }
  [[nodiscard]] bool at_end() const { return current_.what == token::kind::end; }

  /// Consumes the punctuation if it is the current token.
  bool accept(char p);
  bool accept_directive(std::string_view with_dot);
  /// Consumes a mandatory token; the error names the actual token and `expected`.
  void expect(char p);
  void expect(char p, const char* expected);
  std::string expect_identifier(const char* expected);
  /// Consumes a non-negative integer literal of at most `maximum`. `what` names it in errors.
  std::uint32_t expect_count(const char* what, std::uint32_t maximum = UINT32_MAX);
  std::string_view expect_string(const char* expected);

  /// Throws "unexpected X, expected Y" at the current token; at the end of the file, reports the unclosed bracket at
  /// its position.
  [[noreturn]] void unexpected(const char* expected) const;
  [[noreturn]] void fail(location where, const std::string& message) const { lexer_.fail(where, message); }

  /// What the directives about source lines said so far.
  [[nodiscard]] debug_lines& debug() { return debug_; }

  /// The source text from `first` to the token consumed last.
  [[nodiscard]] std::string spelling_from(const token& first) const;

  /// Adds one level of nesting during its lifetime; throws input_error beyond 256 levels, so that no input exhausts
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

  /// Arrays declared per scope with their element size in bytes, so that array[2] is converted to a byte offset at
  /// once.
  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }
  void declare(const ast_variable& variable);
  /// Bytes per step of the index of a[i] (a row if there are several dimensions); 0 if `name` is no array in scope.
  [[nodiscard]] std::uint64_t index_stride(const std::string& name) const;

 private:
  static constexpr unsigned depth_limit = 256;
  static constexpr std::uint32_t most_statements = 400'000;

  void follow_brackets();

  lexer lexer_;
  token current_;
  token previous_;
  debug_lines debug_;
  unsigned depth_ = 0;
  std::uint32_t statements_ = 0;
  std::vector<token> open_brackets_;
  std::vector<std::unordered_map<std::string, std::uint64_t>> scopes_;  // only ever looked up, never iterated
};

}  // namespace heddle::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// One or two punctuation characters encoded as one number, so that tokens compare in one step.
constexpr std::uint16_t symbol(char first, char second = 0) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(first) | static_cast<unsigned char>(second) << 8);
}

/// One token. `text` points into the source and is its exact spelling.
struct token {
  enum class kind : std::uint8_t {
    end,         // end of the source
    identifier,  // x, %r1, $L__BB0_1, _
    directive,   // .word, with its dot; also modifiers (.f32, .2d, .L2::128B)
    integer,     // `bits`; `is_unsigned` according to the language rules
    f32,         // 0f…: pattern in `bits`
    f64,         // 0d… or decimal: pattern in `bits`
    string,      // "…", with its quotes
    punctuation  // `punctuation`
  };
  kind what = kind::end;
  bool is_unsigned = false;
  std::uint16_t punctuation = 0;
  std::string_view text;
  std::uint64_t bits = 0;
  location where;

  [[nodiscard]] bool is(std::uint16_t p) const { return what == kind::punctuation && punctuation == p; }
  [[nodiscard]] bool is_directive(std::string_view with_dot) const {
    return what == kind::directive && text == with_dot;
  }
  /// The text of a directive or modifier without its dot.
  [[nodiscard]] std::string_view word() const { return text.substr(1); }
};

/// Splits PTX source into tokens on demand. Cheap to copy, which the parser uses to look ahead. Source and file name
/// must outlive it. Syntax: PTX ISA, chapter "Syntax".
class lexer {
 public:
  /// Line numbers of tokens start at `first_line`.
  lexer(std::string_view source, const std::string& file_name, std::uint32_t first_line = 1)
      : source_(source), file_name_(&file_name), first_line_(first_line), line_(first_line) {}

  /// The next token; always of kind `end` after the end of the source. Throws input_error on a character that starts
  /// no token, a malformed number, an unterminated comment or string.
  token next();

  /// Reads the last token `t` again, but only its first character: "%4" is a name, yet after a value it is the
  /// remainder operator and a number.
  token first_character(const token& t);

  /// Throws input_error at a position of this file.
  [[noreturn]] void fail(location where, const std::string& message) const;

 private:
  [[nodiscard]] char at(std::size_t offset = 0) const {
    return position_ + offset < source_.size() ? source_[position_ + offset] : '\0';
  }
  [[nodiscard]] location here() const;
  void new_line();
  [[nodiscard]] bool at_line_marker() const;
  [[noreturn]] void refuse_directive() const;
  void skip_blanks();
  void skip_comment();
  void skip_line();
  void take_word();
  [[nodiscard]] bool starts_identifier() const;
  [[nodiscard]] bool starts_directive() const;
  [[nodiscard]] bool starts_decimal_fraction() const;
  token take_identifier();
  token take_directive();
  token take_number();
  token take_hex_float(unsigned digits);
  token take_decimal_float(std::size_t start);
  token take_integer();
  token take_string();
  token take_punctuation();
  token finish(token t, std::size_t start);

  std::string_view source_;
  const std::string* file_name_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t first_line_;
  std::uint32_t line_;
  token::kind previous_ = token::kind::end;  // kind of the previous token: it affects the meaning of a dot
};

}  // namespace heddle::ptx

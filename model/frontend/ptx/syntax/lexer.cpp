// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/syntax/lexer.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "heddle/config/error.h"

namespace heddle::ptx {

namespace {

enum character_class : std::uint8_t { letter = 1, digit = 2, mark = 4 };  // mark: _ and $

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = letter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = letter;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = digit;
  classes['_'] = mark;
  classes['$'] = mark;
  return classes;
}

constexpr std::array<std::uint8_t, 256> classes = make_classes();

bool is_a(char c, unsigned mask) { return (classes[static_cast<unsigned char>(c)] & mask) != 0; }
bool is_word(char c) { return is_a(c, letter | digit | mark); }
bool is_digit(char c) { return is_a(c, digit); }

unsigned hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 99;
}

}  // namespace

location lexer::here() const { return {line_, static_cast<std::uint32_t>(position_ - line_start_ + 1)}; }

void lexer::fail(location where, const std::string& message) const {
  throw input_error(*file_name_, where.line - first_line_ + 1, where.column, message);
}

void lexer::new_line() {
  ++line_;
  line_start_ = position_;
}

// `# 1 "file"` or `#line 1 "file"`, which a preprocessor leaves and ptxas skips.
bool lexer::at_line_marker() const {
  std::size_t k = position_ + 1;
  const auto is_blank = [&] { return k < source_.size() && (source_[k] == ' ' || source_[k] == '\t'); };
  while (is_blank()) ++k;
  if (source_.compare(k, 4, "line") == 0) {
    k += 4;
    if (!is_blank()) return false;
    while (is_blank()) ++k;
  }
  const std::size_t digits = k;
  while (k < source_.size() && is_digit(source_[k])) ++k;
  if (k == digits || !is_blank()) return false;
  while (is_blank()) ++k;
  return k < source_.size() && source_[k] == '"';
}

void lexer::refuse_directive() const {
  std::size_t end = position_ + 1;
  while (end < source_.size() && is_word(source_[end])) ++end;
  fail(here(), "unexpected '" + std::string(source_.substr(position_, end - position_)) +
                   "', expected PTX that needs no preprocessor (of its lines only # NUMBER \"FILE\" is skipped)");
}

void lexer::skip_line() {
  const std::size_t end = source_.find('\n', position_);
  position_ = end == std::string_view::npos ? source_.size() : end;
}

void lexer::skip_comment() {
  const location start = here();
  position_ += 2;
  for (; position_ < source_.size(); ++position_) {
    if (source_[position_] == '*' && at(1) == '/') {
      position_ += 2;
      return;
    }
    if (source_[position_] == '\n') {
      ++line_;
      line_start_ = position_ + 1;
    }
  }
  fail(start, "unterminated comment, expected '*/' before the end of the file");
}

void lexer::skip_blanks() {
  while (position_ < source_.size()) {
    const char c = source_[position_];
    if (c == '\n') {
      ++position_;
      new_line();
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++position_;
    } else if (c == '/' && at(1) == '/') {
      skip_line();
    } else if (c == '/' && at(1) == '*') {
      skip_comment();
    } else if (c == '\\' && (at(1) == '\n' || (at(1) == '\r' && at(2) == '\n'))) {
      ++position_;  // line continuation: the line break is skipped as white space
    } else if (c == '#') {
      if (!at_line_marker()) refuse_directive();
      skip_line();
    } else if (c == '@' && source_.compare(position_, 7, "@@DWARF") == 0) {
      skip_line();  // debug information of PTX 1.x
    } else {
      return;
    }
  }
}

token lexer::finish(token t, std::size_t start) {
  t.text = source_.substr(start, position_ - start);
  previous_ = t.what;
  return t;
}

bool lexer::starts_identifier() const {
  const char c = at();
  if (is_a(c, letter | mark)) return true;
  return c == '%' && is_word(at(1));
}

bool lexer::starts_decimal_fraction() const {
  // ".5" is a number, but "tex.2d" and ".L2" are words: after an identifier or another word, a dot starts a word.
  return at() == '.' && is_digit(at(1)) && previous_ != token::kind::identifier && previous_ != token::kind::directive;
}

bool lexer::starts_directive() const { return at() == '.' && is_word(at(1)); }

void lexer::take_word() {
  while (position_ < source_.size() && is_word(source_[position_])) ++position_;
}

token lexer::next() {
  skip_blanks();
  if (position_ >= source_.size()) {
    token end;
    end.where = here();
    end.text = source_.substr(source_.size());
    return end;
  }
  const char c = source_[position_];
  if (starts_identifier()) return take_identifier();
  if (is_digit(c) || starts_decimal_fraction()) return take_number();
  if (starts_directive()) return take_directive();
  if (c == '"') return take_string();
  return take_punctuation();
}

token lexer::first_character(const token& t) {
  position_ = static_cast<std::size_t>(t.text.data() - source_.data());
  return take_punctuation();
}

token lexer::take_identifier() {
  token t;
  t.what = token::kind::identifier;
  t.where = here();
  const std::size_t start = position_;
  ++position_;
  take_word();
  return finish(t, start);
}

token lexer::take_directive() {
  token t;
  t.what = token::kind::directive;
  t.where = here();
  const std::size_t start = position_;
  ++position_;
  take_word();
  while (at() == ':' && at(1) == ':' && is_word(at(2))) {  // .shared::cluster
    position_ += 2;
    take_word();
  }
  return finish(t, start);
}

token lexer::take_string() {
  token t;
  t.what = token::kind::string;
  t.where = here();
  const std::size_t start = position_;
  for (++position_; position_ < source_.size(); ++position_) {
    const char c = source_[position_];
    if (c == '\n') break;
    if (c == '"') {
      ++position_;
      return finish(t, start);
    }
    if (c == '\\' && at(1) != '\n' && at(1) != '\0') ++position_;
  }
  fail(t.where, "unterminated string, expected '\"' before the end of the line");
}

token lexer::take_number() {
  const std::size_t start = position_;
  const char marker = at() == '0' ? at(1) : '\0';
  if (marker == 'f' || marker == 'F') return take_hex_float(8);
  if (marker == 'd' || marker == 'D') return take_hex_float(16);
  if (marker != 'x' && marker != 'X' && marker != 'b' && marker != 'B') {
    std::size_t end = position_;
    while (end < source_.size() && is_digit(source_[end])) ++end;
    const char after = end < source_.size() ? source_[end] : '\0';
    if (after == '.' || after == 'e' || after == 'E') return take_decimal_float(start);
  }
  return take_integer();
}

token lexer::take_hex_float(unsigned digits) {
  token t;
  t.what = digits == 8 ? token::kind::f32 : token::kind::f64;
  t.where = here();
  const std::size_t start = position_;
  position_ += 2;
  const std::size_t first = position_;
  take_word();
  const std::string_view text = source_.substr(first, position_ - first);
  bool valid = text.size() == digits;
  for (std::size_t i = 0; valid && i < text.size(); ++i) {
    valid = hex_value(text[i]) < 16;
    t.bits = t.bits << 4 | (hex_value(text[i]) & 15);
  }
  if (!valid) {
    fail(t.where, "malformed number, expected " + std::to_string(digits) + " hexadecimal digits after '" +
                      std::string(source_.substr(start, 2)) + "'");
  }
  return finish(t, start);
}

token lexer::take_decimal_float(std::size_t start) {
  token t;
  t.what = token::kind::f64;
  t.where = here();
  while (is_digit(at())) ++position_;
  if (at() == '.') ++position_;
  while (is_digit(at())) ++position_;
  if (at() == 'e' || at() == 'E') {
    ++position_;
    if (at() == '+' || at() == '-') ++position_;
    if (!is_digit(at())) fail(t.where, "malformed number, expected the digits of its exponent");
    while (is_digit(at())) ++position_;
  }
  if (is_word(at())) fail(t.where, "malformed number, expected a blank or an operator after its digits");
  double value = 0;
  const auto result = std::from_chars(source_.data() + start, source_.data() + position_, value);
  if (result.ec == std::errc::result_out_of_range) fail(t.where, "floating-point number out of range of .f64");
  std::memcpy(&t.bits, &value, sizeof value);
  return finish(t, start);
}

token lexer::take_integer() {
  token t;
  t.what = token::kind::integer;
  t.where = here();
  const std::size_t start = position_;
  take_word();
  std::string_view digits = source_.substr(start, position_ - start);
  if (digits.back() == 'U' || digits.back() == 'u') {
    t.is_unsigned = true;
    digits.remove_suffix(1);
  }
  unsigned base = 10;
  const char* name = "decimal";
  if (digits.size() > 1 && digits[0] == '0') {
    const bool hex = digits[1] == 'x' || digits[1] == 'X';
    const bool binary = digits[1] == 'b' || digits[1] == 'B';
    base = hex ? 16 : binary ? 2 : 8;
    name = hex ? "hexadecimal" : binary ? "binary" : "octal";
    digits.remove_prefix(hex || binary ? 2 : 1);
  }
  if (digits.empty()) fail(t.where, std::string("malformed number, expected ") + name + " digits");
  for (const char c : digits) {
    const unsigned value = hex_value(c);
    if (value >= base) fail(t.where, std::string("malformed number, expected ") + name + " digits, found '" + c + "'");
    if (t.bits > (UINT64_MAX - value) / base) fail(t.where, "integer too large, expected at most 64 bits");
    t.bits = t.bits * base + value;
  }
  if (t.bits > static_cast<std::uint64_t>(INT64_MAX)) t.is_unsigned = true;
  return finish(t, start);
}

token lexer::take_punctuation() {
  static constexpr std::string_view singles = "{}()[]<>,;:=+-*/%!~&|^?@";
  static constexpr std::array<std::string_view, 8> doubles = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  token t;
  t.what = token::kind::punctuation;
  t.where = here();
  const std::size_t start = position_;
  const char c = at();
  if (c == '\0' || singles.find(c) == std::string_view::npos) {
    char shown[8];
    const bool printable = c > ' ' && c < '\x7f';
    std::snprintf(shown, sizeof shown, printable ? "%c" : "0x%02X", static_cast<unsigned char>(c));
    fail(t.where, printable ? "unexpected character '" + std::string(shown) + "', expected a token of PTX"
                            : "unexpected byte " + std::string(shown) + ", expected plain ASCII text");
  }
  t.punctuation = symbol(c);
  ++position_;
  for (const std::string_view pair : doubles) {
    if (source_.compare(start, 2, pair) == 0) {
      t.punctuation = symbol(pair[0], pair[1]);
      ++position_;
      break;
    }
  }
  return finish(t, start);
}

}  // namespace heddle::ptx

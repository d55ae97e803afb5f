// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/read/hopper_fields.h"

#include <cstdint>

#include "heddle/frontend/sass_trace/text/trace_text.h"

namespace heddle::sass_trace {

namespace {

/// The words of a line from left to right.
class words {
 public:
  explicit words(std::string_view text) : text_(text) {}
  std::string_view next() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const std::size_t from = at_;
    while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  [[nodiscard]] std::size_t place() const { return at_; }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool all_of(std::string_view word, std::string_view characters) {
  return !word.empty() && word.find_first_not_of(characters) == std::string_view::npos;
}
bool is_decimal(std::string_view word) { return all_of(word, "0123456789"); }
bool is_integer(std::string_view word) {
  if (!word.empty() && word[0] == '-') word.remove_prefix(1);
  return is_decimal(word);
}
bool is_hex(std::string_view word) {
  if (starts_with(word, "0x") || starts_with(word, "0X")) word.remove_prefix(2);
  return all_of(word, "0123456789abcdefABCDEF");
}
bool is_flag(std::string_view word) { return word == "0" || word == "1"; }

bool begins_end(std::string_view word) { return word.empty() || word == "Val" || word == "NoVal"; }

/// What follows has all immediates, and no other number before the values.
bool only_immediates(words left, const line_format& format) {
  for (unsigned k = 0; k < format.immediates; ++k)
    if (!is_integer(left.next())) return false;
  return begins_end(left.next());
}

}  // namespace

bool has_group_field(std::string_view opcode, std::string_view rest, const line_format& format) {
  if (!contains(opcode.substr(0, opcode.find('.')), "GMMA")) return false;
  words w(rest);
  return is_flag(w.next()) && is_decimal(w.next()) && only_immediates(w, format);
}

bool is_bulk_copy(std::string_view opcode) {
  const std::string_view name = opcode.substr(0, opcode.find('.'));
  for (const char* bulk : {"UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED"})
    if (name == bulk) return true;
  return false;
}

std::size_t bulk_copy_fields(std::string_view rest, const line_format& format) {
  words w(rest);
  if (!is_hex(w.next())) return 0;
  const std::string_view multicast = w.next();
  if (!is_flag(multicast) || (multicast == "1" && !is_hex(w.next()))) return 0;
  if (!is_decimal(w.next()) || !is_decimal(w.next())) return 0;
  const std::string_view form = w.next();
  const bool differences = form == "4";
  if (!differences && form != "3") return 0;
  if (differences && !is_hex(w.next())) return 0;
  const std::string_view number = w.next();
  if (!is_decimal(number) || number.size() > 6) return 0;
  std::size_t count = 0;
  for (const char c : number) count = 10 * count + static_cast<unsigned>(c - '0');
  for (std::size_t k = differences ? 1 : 0; k < count; ++k)
    if (const std::string_view word = w.next(); differences ? !is_integer(word) : !is_hex(word)) return 0;
  return only_immediates(w, format) ? w.place() : 0;
}

}  // namespace heddle::sass_trace

// SPDX-License-Identifier: MIT
#include "heddle/config/message.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace heddle {
namespace {

constexpr std::size_t longest_quote = 200;
constexpr std::size_t all_quotes = 300;  // of one message
constexpr std::size_t least_quote = 60;
constexpr std::size_t longest_line = 1000;
constexpr std::size_t longest_read = 16384;  // bytes from either end

/// Characters that a terminal interprets or displays differently: C0 and C1 controls, line separators, and marks that
/// change the writing direction.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

std::uint32_t code_point(const std::string& text, std::size_t at, std::size_t bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i])); };
  if (bytes == 1) return byte(0);
  std::uint32_t c = byte(0) & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) c = c << 6 | (byte(i) & 0x3f);
  return c;
}

/// One input character as it is displayed.
struct shown {
  std::string text;
  char plain;  // 0: not ASCII
};

std::string escaped(std::uint32_t c, bool is_character) {
  switch (c) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
  }
  char code[16];
  std::snprintf(code, sizeof code, is_character && c > 0xff ? "\\u%04x" : "\\x%02x", c);
  return code;
}

std::vector<shown> characters_of(const std::string& whole) {
  // If there is more than can be shown, the middle is skipped.
  const std::string text = whole.size() <= 2 * longest_read
                               ? whole
                               : whole.substr(0, longest_read) + whole.substr(whole.size() - longest_read);
  std::vector<shown> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = utf8_sequence(text, at);
    const std::uint32_t c = bytes == 0 ? static_cast<unsigned char>(text[at]) : code_point(text, at, bytes);
    const bool plain = bytes == 1 && !is_control(c);
    all.push_back(
        {bytes == 0 || is_control(c) ? escaped(c, bytes != 0) : text.substr(at, bytes), plain ? text[at] : '\0'});
    at += bytes == 0 ? 1 : bytes;
  }
  return all;
}

/// Characters [begin, end), but at most `most`: three fifths of them from the beginning.
std::string cut(const std::vector<shown>& all, std::size_t begin, std::size_t end, std::size_t most) {
  std::string text;
  const std::size_t head = most * 3 / 5;
  for (std::size_t k = begin; k < end; ++k) {
    if (end - begin > most && k == begin + head) {
      text += "...";
      k = end - (most - head);
    }
    text += all[k].text;
  }
  return text;
}

bool is_one_of(char c, const char* set) {
  for (; *set; ++set)
    if (c == *set) return true;
  return false;
}

/// Splits a message into quoted parts and its own text.
class quoting {
 public:
  explicit quoting(const std::vector<shown>& all) : all_(all) {}

  /// Several long parts share the characters that a message quotes.
  std::string shortened() {
    const std::vector<part> parts = all_parts();
    std::size_t sum = 0, count = 0;
    for (const part& p : parts)
      if (p.end - p.begin > least_quote) sum += std::min(p.end - p.begin, longest_quote), ++count;
    const std::size_t share = sum <= all_quotes ? longest_quote : std::max(least_quote, all_quotes / count);
    std::string text;
    for (const part& p : parts) text += cut(all_, p.begin, p.end, share + p.marks);
    return text;
  }

 private:
  struct part {
    std::size_t begin, end;
    std::size_t marks;  // quotation marks
  };

  [[nodiscard]] std::vector<part> all_parts() const {
    std::size_t at = end_of_file_name();
    std::vector<part> parts = {{0, at, 0}};
    while (at < all_.size()) {
      const std::size_t close = opens(at) ? closing(at) : 0;
      const std::size_t end = close != 0 ? close + 1 : end_of_word(at);
      parts.push_back({at, end, close != 0 ? std::size_t{2} : 0});
      at = end;
    }
    return parts;
  }

  [[nodiscard]] char plain(std::size_t k) const { return k < all_.size() ? all_[k].plain : '\0'; }
  [[nodiscard]] bool ends(std::size_t k) const { return k >= all_.size(); }

  [[nodiscard]] std::size_t number(std::size_t k) const {
    while (std::isdigit(static_cast<unsigned char>(plain(k)))) ++k;
    return k;
  }

  /// Position at which ":LINE:COLUMN: " begins; 0: none.
  [[nodiscard]] std::size_t end_of_file_name() const {
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (plain(k) != ':') continue;
      const std::size_t line = number(k + 1);
      if (line == k + 1 || plain(line) != ':') continue;
      const std::size_t column = number(line + 1);
      if (column != line + 1 && plain(column) == ':') return k;
    }
    return 0;
  }

  /// True for an opening quotation mark, false for an apostrophe.
  [[nodiscard]] bool opens(std::size_t at) const {
    return plain(at) == '\'' && (at == 0 || !std::isalnum(static_cast<unsigned char>(plain(at - 1))));
  }

  /// The quotation mark that closes the one at `at`; 0: none.
  [[nodiscard]] std::size_t closing(std::size_t at) const {
    for (std::size_t k = at + 1; !ends(k); ++k)
      if (plain(k) == '\'' && (ends(k + 1) || is_one_of(plain(k + 1), " ,:;.)]"))) return k;
    return 0;
  }

  [[nodiscard]] std::size_t end_of_word(std::size_t at) const {
    std::size_t k = at + 1;
    while (plain(at) != ' ' && !ends(k) && plain(k) != ' ' && plain(k) != '\'') ++k;
    return k;
  }

  const std::vector<shown>& all_;
};

}  // namespace

std::size_t utf8_sequence(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned c = byte(at);
  if (c < 0x80) return 1;
  const std::size_t n = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
  for (std::size_t i = 1; i < n; ++i)
    if (byte(at + i) < 0x80 || byte(at + i) > 0xbf) return 0;
  const unsigned second = byte(at + 1);
  if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) || (c == 0xf0 && second < 0x90) ||
      (c == 0xf4 && second > 0x8f))
    return 0;
  return n;
}

std::string printable(const std::string& text) {
  const std::vector<shown> all = characters_of(text);
  return cut(all, 0, all.size(), longest_quote);
}

std::string one_line(const std::string& message) {
  const std::string short_quotes = quoting(characters_of(message)).shortened();
  const std::vector<shown> all = characters_of(short_quotes);
  return cut(all, 0, all.size(), longest_line);
}

}  // namespace heddle

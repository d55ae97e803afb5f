// SPDX-License-Identifier: MIT
#include "testbench/text/shell_words.h"

#include "heddle/config/error.h"

namespace heddle::testbench {

std::vector<std::string> shell_words(const std::string& line, const std::string& who) {
  std::vector<std::string> words;
  bool inside = false;  // inside a word, which may be empty
  char quote = 0;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && k + 1 < line.size()) {
      words.back() += line[++k];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) throw input_error(who + ": a quotation mark is not closed");
  return words;
}

std::string shell_quoted(const std::string& word) {
  static const char* const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:%@";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#include "heddle/config/ini_reader.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "heddle/config/error.h"
#include "heddle/config/input_file.h"

namespace heddle {
namespace {

constexpr std::size_t largest_file_bytes = 1u << 20;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/// The part of a line before its comment.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if ((line[i] == ';' || line[i] == '#') && (i == 0 || is_blank(line[i - 1]))) return line.substr(0, i);
  return line;
}

/// A part of a line and the column of its first character.
struct token {
  std::string_view text;
  std::uint32_t column;
};

token trimmed(std::string_view line, std::size_t begin, std::size_t end) {
  while (begin < end && is_blank(line[begin])) ++begin;
  while (end > begin && is_blank(line[end - 1])) --end;
  return {line.substr(begin, end - begin), static_cast<std::uint32_t>(begin + 1)};
}

class reader {
 public:
  reader(const std::string& file, std::vector<ini_section>* sections, ini_entry* base)
      : file_(file), sections_(sections), base_(base) {}

  void read_line(std::string_view raw) {
    ++line_;
    const std::string_view line = without_comment(raw);
    const token content = trimmed(line, 0, line.size());
    if (content.text.empty()) return;
    if (content.text.front() == '[') open_section(content);
    else add_entry(line, content);
  }

  std::vector<ini_entry> take() { return std::move(entries_); }

 private:
  [[noreturn]] void fail(std::uint32_t column, const std::string& message) const {
    throw input_error(file_, line_, column, message);
  }

  void open_section(const token& content) {
    if (content.text.back() != ']') fail(content.column, "expected ']' at the end of the section's name");
    const token name = trimmed(content.text, 1, content.text.size() - 1);
    if (name.text.empty()) fail(content.column, "expected a section's name between '[' and ']'");
    const auto bad = std::find_if_not(name.text.begin(), name.text.end(), is_name);
    const std::uint32_t column = content.column + name.column - 1;
    if (bad != name.text.end())
      fail(column + static_cast<std::uint32_t>(bad - name.text.begin()),
           "expected a section's name of letters, digits and '_'");
    section_ = name.text;
    section_line_ = line_;
    section_column_ = column;
    if (sections_ != nullptr) sections_->push_back({section_, section_line_, section_column_});
  }

  void add_entry(std::string_view line, const token& content) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) fail(content.column, "expected [section] or key = value");
    const token key = trimmed(line, 0, equals);
    const token value = trimmed(line, equals + 1, line.size());
    if (key.text.empty()) fail(static_cast<std::uint32_t>(equals + 1), "expected a key before '='");
    const auto bad = std::find_if_not(key.text.begin(), key.text.end(), is_name);
    if (bad != key.text.end())
      fail(key.column + static_cast<std::uint32_t>(bad - key.text.begin()),
           "expected a key of letters, digits and '_'");
    const bool is_base = section_line_ == 0 && base_ != nullptr && key.text == "base";
    if (section_line_ == 0 && !is_base)
      fail(key.column, "key '" + printable(std::string(key.text)) + "' is before the first [section]");
    if (value.text.empty()) fail(static_cast<std::uint32_t>(equals + 2), "expected a value after '='");
    if (is_base) {
      if (base_->line != 0) fail(key.column, "key 'base' is given twice, first in line " + std::to_string(base_->line));
      *base_ = {"", "base", std::string(value.text), line_, 0, 0, key.column, value.column};
      return;
    }
    const auto seen = lines_.emplace(section_ + "." + std::string(key.text), line_);
    if (!seen.second)
      fail(key.column, "key '" + printable(std::string(key.text)) + "' is given twice in section [" +
                           printable(section_) + "], first in line " + std::to_string(seen.first->second));
    entries_.push_back({section_, std::string(key.text), std::string(value.text), line_, section_line_, section_column_,
                        key.column, value.column});
  }

  const std::string& file_;
  std::vector<ini_section>* sections_;
  ini_entry* base_;
  std::uint32_t line_ = 0;
  std::string section_;
  std::uint32_t section_line_ = 0;
  std::uint32_t section_column_ = 0;
  std::map<std::string, std::uint32_t> lines_;
  std::vector<ini_entry> entries_;
};

}  // namespace

std::vector<ini_entry> read_ini(const std::string& text, const std::string& file, std::vector<ini_section>* sections,
                                ini_entry* base) {
  std::string_view rest = text;
  if (rest.substr(0, 3) == "\xEF\xBB\xBF") rest.remove_prefix(3);
  reader r(file, sections, base);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    r.read_line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return r.take();
}

std::string read_text_file(const std::string& file) {
  const std::string shown = printable(file);
  input_file in(file, input_file::kind::regular_or_own_descriptor);
  if (!in.problem().empty()) throw input_error(shown + ": cannot open the configuration: " + in.problem());
  std::string text;
  const std::string problem = in.read(text, largest_file_bytes);
  if (text.size() > largest_file_bytes)
    throw input_error(shown + ": larger than 1 MiB, expected a configuration (INI)");
  if (!problem.empty()) throw input_error(shown + ": cannot read the configuration: " + problem);
  return text;
}

}  // namespace heddle

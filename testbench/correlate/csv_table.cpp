// SPDX-License-Identifier: MIT
#include "testbench/correlate/csv_table.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/config/message.h"

namespace heddle::testbench {

namespace {

/// Reads rows one after another.
class csv_reader {
 public:
  explicit csv_reader(const std::string& text) : text_(text) {}

  [[nodiscard]] bool ended() const { return at_ >= text_.size(); }
  [[nodiscard]] std::uint32_t line() const { return line_; }

  /// Skips the line if it holds no row.
  bool skip() {
    const char c = text_[at_];
    if (c != '\n' && c != '\r' && c != '#' && text_.compare(at_, 2, "==") != 0) return false;
    next_line();
    return true;
  }

  void next_line() {
    const auto end = text_.find('\n', at_);
    at_ = end == std::string::npos ? text_.size() : end + 1;
    ++line_;
  }

  /// False: a quotation mark is not closed.
  bool read(csv_row& row) {
    row = {{std::string()}, line_};
    bool quoted = false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\n') ++line_;
      if (quoted) {
        if (c != '"') row.cells.back() += c;
        else if (at_ < text_.size() && text_[at_] == '"') row.cells.back() += text_[at_++];
        else quoted = false;
      } else if (c == '"') {
        quoted = true;
      } else if (c == ',') {
        row.cells.emplace_back();
      } else if (c == '\n') {
        return true;
      } else if (c != '\r') {
        row.cells.back() += c;
      }
    }
    return !quoted;
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

/// Text of others is shown on the terminal and in pages: no control characters but line breaks and tabs.
void check_text(const csv_table& table, const csv_row& row) {
  for (const std::string& cell : row.cells) {
    for (std::size_t at = 0; at < cell.size();) {
      const std::size_t bytes = utf8_sequence(cell, at);
      const auto c = static_cast<unsigned char>(cell[at]);
      const bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
      if (bytes == 0 || control)
        throw input_error(table.place(row) + ": " + (control ? "a control character" : "a byte that is not UTF-8") +
                          " in '" + printable(cell) + "', expected text");
      at += bytes;
    }
  }
}

std::string one_line_of(const std::string& text, std::size_t begin) {
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

std::size_t csv_table::column(const std::string& name) const {
  const auto found = std::find(header.cells.begin(), header.cells.end(), name);
  return found == header.cells.end() ? none : static_cast<std::size_t>(found - header.cells.begin());
}

std::string csv_table::place(const csv_row& row) const { return printable(file) + ":" + std::to_string(row.line); }

csv_table read_csv(const std::string& text, const std::string& file,
                   const std::function<bool(const csv_row&)>& is_header) {
  csv_table table;
  table.file = file;
  std::size_t begin = text.compare(0, 3, "\xef\xbb\xbf") == 0 ? 3 : 0;
  std::uint32_t line = 1;
  for (; begin < text.size(); ++line) {
    const std::string candidate = one_line_of(text, begin);
    csv_row row;
    if (csv_reader(candidate).read(row) && is_header(row)) {
      row.line = line;
      table.header = std::move(row);
      break;
    }
    begin += candidate.size() + 1;
  }
  if (table.header.cells.empty()) return table;
  check_text(table, table.header);
  csv_reader reader(text);
  while (reader.line() <= line && !reader.ended()) reader.next_line();
  while (!reader.ended()) {
    if (reader.skip()) continue;
    csv_row row;
    if (!reader.read(row)) throw input_error(table.place(row) + ": a quotation mark is not closed");
    check_text(table, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace heddle::testbench

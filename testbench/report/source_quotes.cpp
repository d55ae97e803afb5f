// SPDX-License-Identifier: MIT
#include "testbench/report/source_quotes.h"

#include <algorithm>
#include <cstdlib>

#include "heddle/config/error.h"
#include "testbench/files/file_access.h"

namespace heddle::testbench {

namespace {

constexpr std::uint64_t largest_source = std::uint64_t{1} << 24;
constexpr std::uint32_t whole_below = 1500;  // lines: of a longer source only those around the kernels' are kept
constexpr std::uint32_t lines_before = 30, lines_after = 5;

/// The lines of a text, counted from 1.
class text_lines {
 public:
  explicit text_lines(const std::string& text) : text_(text) {
    for (std::size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1)
      begins_.push_back(at);
  }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(begins_.size()); }
  /// Without its end; empty: there is no such line.
  [[nodiscard]] std::string whole(std::size_t number) const {
    if (number == 0 || number > begins_.size()) return {};
    const std::size_t first = begins_[number - 1], end = std::min(text_.find_first_of("\r\n", first), text_.size());
    return text_.substr(first, end - first);
  }
  /// The same without leading blanks.
  [[nodiscard]] std::string line(std::size_t number) const {
    const std::string all = whole(number);
    const std::size_t first = all.find_first_not_of(" \t");
    return first == std::string::npos ? std::string() : all.substr(first);
  }

 private:
  const std::string& text_;
  std::vector<std::size_t> begins_;
};

struct source_place {
  std::string file;
  std::uint32_t line;
};

source_place place_of(const std::string& source) {
  const std::size_t colon = source.rfind(':');
  return {source.substr(0, colon), static_cast<std::uint32_t>(std::strtoul(source.c_str() + colon + 1, nullptr, 10))};
}

}  // namespace

void source_quotes::keep(const std::string& name, const std::string& text, std::uint32_t first, std::uint32_t last) {
  if (!whole_) return;
  quoted_file& file = kept_[name];
  if (file.text.empty()) file.text = text;
  file.first = std::min(file.first, first);
  file.last = std::max(file.last, last);
}

void source_quotes::quote_ptx(kernel_metrics& k, const std::string* ptx) {
  if (ptx == nullptr) return;
  const text_lines text(*ptx);
  for (line_metrics& line : k.lines) line.text = text.line(line.line);
  if (!k.lines.empty()) keep(k.file, *ptx, k.lines.front().line, k.lines.back().line);
}

const std::string* source_quotes::text_of(const std::string& file, const std::string& folder) {
  const std::string own = file[0] == '/' ? file : folder + file;
  const file_access files;
  for (const std::string& path : {own, folder + file.substr(file.rfind('/') + 1)}) {
    const auto known = read_.find(path);
    if (known != read_.end() && !known->second.empty()) return &known->second;
    if (known != read_.end() || !files.holds_file(path)) continue;
    std::string& text = read_[path];
    try {
      text = files.read(path, "a source", largest_source);
    } catch (const input_error&) {
      continue;  // the report goes without it
    }
    if (!text.empty()) return &text;
  }
  return nullptr;
}

void source_quotes::quote_sources(kernel_metrics& k) {
  const std::string folder = k.source.substr(0, k.source.find_last_of('/') + 1);
  std::map<std::string, std::vector<line_metrics*>> by_file;
  const auto keep_place = [&](const std::string& source) {
    const source_place p = place_of(source);
    if (const std::string* text = p.file.empty() ? nullptr : text_of(p.file, folder))
      keep(p.file, *text, p.line, p.line);
  };
  for (line_metrics& line : k.lines) {
    if (line.source.empty()) continue;
    by_file[place_of(line.source).file].push_back(&line);
    keep_place(line.source);
    for (const std::string& call : line.called_at) keep_place(call);
  }
  for (const auto& [file, lines] : by_file) {
    const std::string* text = file.empty() ? nullptr : text_of(file, folder);
    if (text == nullptr) continue;
    const text_lines source(*text);
    for (line_metrics* line : lines) line->source_text = source.line(place_of(line->source).line);
  }
}

std::vector<source_lines> source_quotes::sources() const {
  std::vector<source_lines> all;
  for (const auto& [name, file] : kept_) {
    const text_lines text(file.text);
    const bool whole = text.count() <= whole_below;
    source_lines s{name, whole || file.first <= lines_before ? 1 : file.first - lines_before, {}};
    const std::uint32_t last = whole ? text.count() : std::min(text.count(), file.last + lines_after);
    for (std::uint32_t i = s.first_line; i <= last; ++i) s.lines.push_back(text.whole(i));
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/sweep_file.h"

#include <algorithm>
#include <set>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/parameter_table.h"
#include "heddle/config/suggestion.h"
#include "testbench/job/job.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::uint64_t most_values = 1'000'000;  // of one axis

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Splits at commas outside of quotation marks.
std::vector<std::string> split_list(const std::string& text, const std::string& where) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (quoted) refuse(where, "a quotation mark is not closed");
  for (std::string& part : parts) {
    part = trimmed(part);
    if (part.empty()) refuse(where, "expected a value between the commas of '" + printable(text) + "'");
  }
  return parts;
}

bool is_range(const std::string& text) {
  return text.find(':') != std::string::npos && text.find_first_not_of("0123456789:-+ ") == std::string::npos;
}

void add_range(const std::string& text, const std::string& where, std::vector<std::string>& values) {
  const std::vector<std::string> parts = split(text, ':');
  std::int64_t bounds[3] = {0, 0, 1};
  bool good = parts.size() == 2 || parts.size() == 3;
  for (std::size_t i = 0; good && i < parts.size(); ++i) good = parse_signed(trimmed(parts[i]), bounds[i]);
  constexpr std::int64_t largest = std::int64_t{1} << 53;
  for (const std::int64_t b : bounds) good = good && b <= largest && b >= -largest;
  if (!good) refuse(where, "got '" + printable(text) + "', expected a range FIRST:LAST:STEP of whole numbers");
  const auto [first, last, step] = bounds;
  if (step == 0 || (last < first) != (step < 0 && last != first)) {
    refuse(where, "the range '" + printable(text) +
                      "' is empty, expected a step that leads from its first number to its last");
  }
  if (static_cast<std::uint64_t>((last - first) / step) >= most_values) {
    refuse(where, "the range '" + printable(text) + "' has more than " + grouped(most_values) + " values");
  }
  for (std::int64_t v = first; step > 0 ? v <= last : v >= last; v += step) values.push_back(std::to_string(v));
}

/// Fills a sweep_file from the entries of its INI text.
class reader {
 public:
  explicit reader(const std::string& file) {
    result_.file = file;
    const auto slash = file.rfind('/');
    if (slash != std::string::npos) result_.directory = file.substr(0, slash + 1);
    result_.name = file.substr(result_.directory.size());
    const auto dot = result_.name.rfind(".ini");
    if (dot != std::string::npos && dot > 0 && dot + 4 == result_.name.size()) result_.name.resize(dot);
  }

  void add(const ini_entry& e) {
    const std::string where = place(e, e.value_column);
    if (e.section == "sweep") {
      setting(e, where);
    } else if (e.section == "axes" || e.section == "zip" || e.section.rfind("zip.", 0) == 0) {
      axis(e, where);
    } else if (e.section == "constraints") {
      result_.constraints.push_back({e.key, e.value, where});
    }
  }

  void check(const ini_section& s) const {
    const bool zip = s.name == "zip" || (s.name.rfind("zip.", 0) == 0 && s.name.size() > 4);
    if (zip || s.name == "sweep" || s.name == "axes" || s.name == "constraints") return;
    throw input_error(printable(result_.file), s.line, s.column,
                      "unknown section [" + printable(s.name) +
                          "], expected sweep, axes, zip, zip.NAME or constraints" +
                          suggestion(s.name, {"sweep", "axes", "zip", "constraints"}));
  }

  sweep_file finish() {
    if (result_.store.empty()) refuse(printable(result_.file), "expected 'store = FILE.sqlite' in section [sweep]");
    const int workloads = !result_.job.empty() + !result_.trace.empty() + has_axis("job") + has_axis("trace");
    if (workloads != 1) {
      refuse(printable(result_.file), "expected one of 'job' and 'trace', in section [sweep] or as an axis" +
                                          std::string(workloads ? ", got several" : ""));
    }
    check_zips();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string place(const ini_entry& e, std::uint32_t column) const {
    return printable(result_.file) + ":" + std::to_string(e.line) + ":" + std::to_string(column);
  }

  [[nodiscard]] bool has_axis(const std::string& name) const {
    return std::any_of(result_.axes.begin(), result_.axes.end(), [&](const sweep_axis& a) { return a.name == name; });
  }

  void setting(const ini_entry& e, const std::string& where) {
    const auto number = [&](std::uint64_t& out) {
      if (!parse_unsigned(e.value, out) || out == 0)
        refuse(where, e.key + ": got '" + printable(e.value) + "', expected a whole number from 1 to " +
                          std::to_string(~std::uint64_t{0}));
    };
    result_.settings_where[e.key] = where;
    if (e.key == "job") {
      result_.job = e.value;
    } else if (e.key == "trace") {
      result_.trace = e.value;
    } else if (e.key == "store") {
      result_.store = e.value;
    } else if (e.key == "metrics") {
      result_.metrics = split_list(e.value, where);
    } else if (e.key == "timeout_seconds") {
      number(result_.timeout_seconds);
    } else if (e.key == "max_cycles") {
      number(result_.max_cycles);
    } else if (e.key == "sample_blocks") {
      if (!parse_percentage(e.value, result_.sample_error))
        refuse(where, e.key + ": got '" + printable(e.value) + "', expected a percentage between 0 and 100");
    } else {
      const std::vector<std::string> known = {"job",        "trace",        "store", "metrics", "timeout_seconds",
                                              "max_cycles", "sample_blocks"};
      refuse(place(e, e.key_column),
             "unknown key '" + printable(e.key) + "' in section [sweep]" + suggestion(e.key, known));
    }
  }

  void axis(const ini_entry& e, const std::string& where) {
    const std::string name = current_name(e.key);
    if (name != e.key) result_.former_names.push_back(e.key);
    sweep_axis a{name, axis_values(e.value, where), e.section == "axes" ? "" : e.section, where};
    if (has_axis(a.name)) refuse(place(e, e.key_column), "axis '" + printable(a.name) + "' is given twice");
    std::set<std::string> seen;
    for (const std::string& value : a.values) {
      // In a zip a value may be repeated beside another one.
      if (!seen.insert(value).second && a.zip.empty())
        refuse(where, "the value '" + printable(value) + "' is given twice");
    }
    result_.axes.push_back(std::move(a));
  }

  void check_zips() const {
    for (const sweep_axis& a : result_.axes) {
      if (a.zip.empty()) continue;
      for (const sweep_axis& other : result_.axes) {
        if (other.zip != a.zip || other.values.size() == a.values.size()) continue;
        refuse(other.where, "axis '" + other.name + "' has " + std::to_string(other.values.size()) + " values, but '" +
                                a.name + "' of the same [" + a.zip + "] has " + std::to_string(a.values.size()));
      }
    }
  }

  sweep_file result_;
};

}  // namespace

std::vector<std::string> axis_values(const std::string& text, const std::string& where) {
  std::vector<std::string> values;
  for (std::string& part : split_list(text, where)) {
    if (is_range(part)) {
      add_range(part, where, values);
    } else {
      const auto marks = std::count(part.begin(), part.end(), '"');
      if (marks != 0 && (marks != 2 || part.front() != '"' || part.back() != '"'))
        refuse(where, "got '" + printable(part) + "', expected the whole value between quotation marks");
      part.erase(std::remove(part.begin(), part.end(), '"'), part.end());
      values.push_back(std::move(part));
    }
    if (values.size() > most_values) refuse(where, "the axis has more than " + grouped(most_values) + " values");
  }
  return values;
}

sweep_file parse_sweep_file(const std::string& text, const std::string& file_name) {
  reader r(file_name);
  std::vector<ini_section> sections;
  const std::vector<ini_entry> entries = read_ini(text, printable(file_name), &sections);
  for (const ini_section& s : sections) r.check(s);
  for (const ini_entry& e : entries) r.add(e);
  return r.finish();
}

sweep_file load_sweep_file(const std::string& file_name) {
  constexpr std::uint64_t largest = 1u << 20;
  if (readable_size(file_name, "sweep") > largest)
    throw input_error(printable(file_name) + ": larger than 1 MiB, expected a sweep file (INI)");
  return parse_sweep_file(read_file(file_name, "sweep"), file_name);
}

}  // namespace heddle::testbench

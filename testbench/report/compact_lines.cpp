// SPDX-License-Identifier: MIT
#include "testbench/report/compact_lines.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t few_launches = 32;  // a page of so many opens fast without this

// Digits of a number that is not a count: more than the page shows.
double rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

/// Writes values without the names of their members: an object becomes a list of its shape's index and its values, a
/// list one that begins with -1.
class shapes {
 public:
  json packed(const json& value) {
    if (value.is_number_float()) return rounded(value.get<double>());
    if (!value.is_structured()) return value;
    json out = json::array({value.is_object() ? json(shape_of(value)) : json(-1)});
    for (const json& member : value) out.push_back(packed(member));
    return out;
  }
  /// Of each shape the names of its members.
  [[nodiscard]] const std::vector<std::vector<std::string>>& all() const { return all_; }

 private:
  std::size_t shape_of(const json& object) {
    std::vector<std::string> names;
    for (const auto& member : object.items()) names.push_back(member.key());
    const auto [at, is_new] = at_.emplace(names, all_.size());
    if (is_new) all_.push_back(std::move(names));
    return at->second;
  }

  std::vector<std::vector<std::string>> all_;
  std::map<std::vector<std::string>, std::size_t> at_;
};

/// Calls f(path, number) for each number in a line or an instruction, except its line: "memory.l1_sectors".
template <class F>
void each_number(const json& object, const std::string& prefix, F&& f) {
  for (const auto& member : object.items()) {
    if (member.value().is_object()) each_number(member.value(), prefix + member.key() + ".", f);
    else if (member.value().is_number() && prefix + member.key() != "line") f(prefix + member.key(), member.value());
  }
}

/// Counts by path, in the order of their first appearance.
class column_names {
 public:
  void add(const json& list, const char* only) {
    for (const json& object : list)
      each_number(object, "", [&](const std::string& path, const json&) {
        if (path.rfind(only, 0) == 0 && at_.emplace(path, names_.size()).second) names_.push_back(path);
      });
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }
  /// The index of a path; the number of names if it is not kept.
  [[nodiscard]] std::size_t index(const std::string& path) const {
    const auto found = at_.find(path);
    return found == at_.end() ? names_.size() : found->second;
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> at_;
};

// A list of values; if most are zero, a list of indices and a list of their values; 0 if all are.
json packed(const json& column) {
  json at = json::array(), values = json::array();
  for (std::size_t i = 0; i < column.size(); ++i)
    if (column[i] != 0) {
      at.push_back(i);
      values.push_back(column[i]);
    }
  if (at.empty()) return 0;
  if (2 * at.size() >= column.size()) return column;
  json both = json::array();
  both.push_back(std::move(at));
  both.push_back(std::move(values));
  return both;
}

json columns_of(const json& list, const column_names& names) {
  std::vector<json> columns(names.all().size(), json(std::vector<int>(list.size(), 0)));
  for (std::size_t i = 0; i < list.size(); ++i)
    each_number(list[i], "", [&](const std::string& path, const json& value) {
      const std::size_t column = names.index(path);
      if (column == columns.size()) return;
      columns[column][i] = value.is_number_float() ? json(rounded(value.get<double>())) : value;
    });
  json out = json::array();
  for (const json& column : columns) out.push_back(packed(column));
  return out;
}

// Columns that are those of `first` become -1.
json differing(json counts, const json& first) {
  for (std::size_t list = 0; list < counts.size(); ++list)
    for (std::size_t column = 0; column < counts[list].size(); ++column)
      if (counts[list][column] == first[list][column]) counts[list][column] = -1;
  return counts;
}

// What launches of one program share: texts, lists, and the line.
json shared_of(const json& list) {
  json out = json::array();
  for (const json& object : list) {
    json own = json::object();
    for (const auto& member : object.items())
      if (member.key() == "line" || member.value().is_string() || member.value().is_array())
        own[member.key()] = member.value();
    out.push_back(std::move(own));
  }
  return out;
}

const json& list_in(const json& kernel, const char* name) {
  static const json none = json::array();
  const auto found = kernel.find(name);
  return found != kernel.end() && found->is_array() ? *found : none;
}

// A kernel's energy by line becomes a member of its lines.
void move_energy(json& kernel) {
  const auto energy = kernel.find("energy");
  if (energy == kernel.end() || !energy->contains("by_line") || !kernel.contains("lines")) return;
  const json& by_line = (*energy)["by_line"];
  for (json& line : kernel["lines"])
    if (const auto found = by_line.find(std::to_string(line.value("line", std::uint64_t{0}))); found != by_line.end())
      line["joules"] = *found;
  energy->erase("by_line");
}

// What the page shows of all kernels beside each other.
bool is_of_overview(const std::string& name) { return name == "warp_cycles" || name == "warp_states"; }

// What the page shows of one kernel alone becomes a text: objects, and what the rules say of it.
void compact_details(json& file, json& metrics) {
  shapes all;
  std::set<std::string> names = {"judged"};
  std::size_t index = 0;
  for (json& kernel : metrics["kernels"]) {
    json details = json::object(), rest = json::object();
    for (auto& member : kernel.items()) {
      const bool moves = member.value().is_object() && !is_of_overview(member.key());
      if (moves) names.insert(member.key());
      (moves ? details : rest)[member.key()] = std::move(member.value());
    }
    details["judged"] = std::move(file["judged"][index++]);
    rest["details"] = all.packed(details).dump();
    kernel = std::move(rest);
  }
  file.erase("judged");
  file["details"] = {{"names", names}, {"shapes", all.all()}};
}

void compact_counts(json& file, json& metrics) {
  column_names lines, code;
  std::map<std::string, std::size_t> known;
  for (json& kernel : metrics["kernels"]) {
    const bool has_code = !list_in(kernel, "code").empty();
    if (!has_code) move_energy(kernel);
    else if (kernel.contains("energy")) kernel["energy"].erase("by_line");
    // Counts of a line are the sums of its instructions'; only instructions have no warp_cycles.
    lines.add(list_in(kernel, "lines"), has_code ? "warp_cycles." : "");
    code.add(list_in(kernel, "code"), "");
  }
  file["columns"] = {{"lines", lines.all()}, {"code", code.all()}};
  file["programs"] = json::array();
  std::vector<json> first_counts;  // of each program
  for (json& kernel : metrics["kernels"]) {
    const json program = {{"lines", shared_of(list_in(kernel, "lines"))}, {"code", shared_of(list_in(kernel, "code"))}};
    json counts = json::array();
    counts.push_back(columns_of(list_in(kernel, "lines"), lines));
    counts.push_back(columns_of(list_in(kernel, "code"), code));
    const auto [at, is_new] = known.emplace(program.dump(), known.size());
    if (is_new) {
      file["programs"].push_back(json({{"shared", program}, {"counts", counts}}).dump());
      first_counts.push_back(counts);
    }
    kernel.erase("lines");
    kernel.erase("code");
    kernel["program"] = at->second;
    kernel["counts"] = differing(counts, first_counts[at->second]).dump();
  }
}

}  // namespace

void compact_lines(json& file, json& metrics) {
  if (metrics["kernels"].size() <= few_launches) return;
  compact_counts(file, metrics);
  compact_details(file, metrics);
}

}  // namespace heddle::testbench

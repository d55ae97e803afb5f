// SPDX-License-Identifier: MIT
#include "testbench/report/sweep_report.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "testbench/report/report_page.h"
#include "testbench/sweep/store/database.h"
#include "testbench/sweep/store/point_result.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr const char* magic = "SQLite format 3";
// Limits the page to a size that a browser opens at once; further values can be queried from the database.
constexpr std::size_t most_values = 4'000'000;
constexpr std::size_t largest_values = 32'000'000;  // for metrics that a sweep names

// Numbers become JSON numbers: SQLite's REAL arrives as its shortest text.
json value_of(const sql_statement& row, int column) {
  const std::string text = row.shortest(column);
  std::int64_t whole = 0;
  double real = 0;
  if (parse_signed(text, whole) && text == std::to_string(whole)) return whole;
  if (!text.empty() && text.find_first_not_of("0123456789.+-e") == std::string::npos && parse_float(text, real))
    return real;
  return valid_utf8(text);
}

bool is_of_a_whole(const std::string& path) {
  for (const char* part : {"lines.", "occupancy_over_time", "sms.", "intervals.", "context_switches.", "host.",
                           ".lost_occupancy_over_time", "energy.by_sm.", "energy.watts_by_", "energy.by_line.",
                           "joules_over_time.", "milliwatts_over_time.", "clock_mhz_over_time."})
    if (path.find(part) != std::string::npos) return false;
  return true;
}

/// Reads one sweep.
class sweep_reader {
 public:
  sweep_reader(sql_database& database, const std::string& name) : database_(database), name_(name) {}

  json read(const std::string& wanted) {
    axes();
    points();
    metrics(wanted);
    json dropped = json::array();
    sql_statement rows = asked("SELECT \"constraint\", points FROM dropped WHERE sweep = ? ORDER BY 1");
    while (rows.step()) dropped.push_back({{"constraint", valid_utf8(rows.text(0))}, {"points", rows.integer(1)}});
    return {
        {"name", valid_utf8(name_)}, {"axes", axes_}, {"metrics", metrics_}, {"points", points_}, {"dropped", dropped}};
  }

 private:
  sql_statement asked(const std::string& sql) {
    sql_statement s = database_.prepare(sql);
    s.bind(1, name_);
    return s;
  }

  void axes() {
    sql_statement rows = asked("SELECT axis FROM axes WHERE sweep = ? ORDER BY number");
    while (rows.step()) axes_.push_back(valid_utf8(rows.text(0)));
  }

  void points() {
    sql_statement rows = asked(
        "SELECT position, p.id, status, reason, result FROM points p LEFT JOIN results r ON r.id = p.id WHERE p.sweep = ? ORDER BY position");
    while (rows.step()) {
      check_cells(axes_.size());
      if (!rows.is_text(1) || !rows.is_text(2) || rows.text(2) != name_of(status_of(rows.text(2))))
        throw input_error("store: point " + std::to_string(rows.integer(0)) + " of sweep '" + name_ +
                          "' has no id or no status that a sweep writes: it is damaged");
      at_[rows.integer(0)] = points_.size();
      of_result_[rows.integer(4)].push_back(points_.size());
      points_.push_back({{"position", rows.integer(0)},
                         {"id", valid_utf8(rows.text(1))},
                         {"status", valid_utf8(rows.text(2))},
                         {"reason", valid_utf8(rows.text(3))},
                         {"axes", json(axes_.size(), nullptr)},
                         {"values", json::array()}});
    }
    sql_statement values = asked("SELECT position, number, value FROM axis_values WHERE sweep = ?");
    while (values.step()) {
      const auto point = at_.find(values.integer(0));
      const auto axis = static_cast<std::size_t>(values.integer(1));
      if (point != at_.end() && axis < axes_.size()) points_[point->second]["axes"][axis] = value_of(values, 2);
    }
  }

  void metrics(const std::string& wanted) {
    std::vector<std::string> paths = wanted.empty() ? std::vector<std::string>() : split(wanted, ',');
    for (std::string& path : paths) path.erase(0, path.find_first_not_of(' '));
    if (paths.empty()) {
      sql_statement names = database_.prepare("SELECT path FROM metric_names ORDER BY metric");
      while (names.step())
        if (is_of_a_whole(names.text(0)) && paths.size() * points_.size() < most_values) paths.push_back(names.text(0));
    }
    std::map<std::int64_t, std::size_t> columns;
    for (const std::string& path : paths) {
      sql_statement number = database_.prepare("SELECT metric FROM metric_names WHERE path = ?");
      number.bind(1, path);
      if (!number.step()) continue;
      columns.emplace(number.integer(0), metrics_.size());
      metrics_.push_back(valid_utf8(path));
    }
    check_cells(metrics_.size());
    for (json& point : points_) point["values"] = json(metrics_.size(), nullptr);
    sql_statement values = database_.prepare("SELECT result, metric, value FROM metric_values WHERE value IS NOT NULL");
    while (values.step()) {
      const auto column = columns.find(values.integer(1));
      const auto points = of_result_.find(values.integer(0));
      if (column == columns.end() || points == of_result_.end()) continue;
      for (const std::size_t p : points->second) points_[p]["values"][column->second] = value_of(values, 2);
    }
  }

  void check_cells(std::size_t columns) const {
    if (columns != 0 && points_.size() > largest_values / columns)
      throw input_error("sweep '" + name_ + "' has more than " + grouped(largest_values) +
                        " values, which no page can show");
  }

  sql_database& database_;
  std::string name_;
  json axes_ = json::array();
  json metrics_ = json::array();
  json points_ = json::array();
  std::map<std::int64_t, std::size_t> at_;                      // index in points_ by position
  std::map<std::int64_t, std::vector<std::size_t>> of_result_;  // indices in points_ by result
};

}  // namespace

bool is_store(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string head(std::string(magic).size(), '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return in && head == magic;
}

std::string report_of_store(const std::string& file) {
  try {
    sql_database database(file, sql_database::mode::read);
    std::string schema, version;
    sql_statement store = database.prepare("SELECT key, value FROM store");
    while (store.step()) (store.text(0) == "schema" ? schema : version) = store.text(1);
    if (schema != "heddle.sweep_store/1") throw input_error("store: its schema is '" + printable(schema) + "'");
    json page = {
        {"schema", "heddle.report/1"}, {"version", valid_utf8(version)}, {"kind", "sweep"}, {"name", valid_utf8(file)}};
    page["sweeps"] = json::array();
    sql_statement sweeps = database.prepare("SELECT sweep, metrics FROM sweeps ORDER BY sweep");
    while (sweeps.step()) page["sweeps"].push_back(sweep_reader(database, sweeps.text(0)).read(sweeps.text(1)));
    return page.dump();
  } catch (const locked_database&) {
    throw;
  } catch (const input_error& e) {
    throw input_error("'" + file + "' is a database, but not the store of a sweep (" + e.what() + ")");
  }
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#include "testbench/sweep/store/gather.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "testbench/files/result_files.h"
#include "testbench/sweep/plan/metric_leaves.h"
#include "testbench/sweep/store/csv_file.h"
#include "testbench/sweep/store/database.h"
#include "testbench/sweep/store/gathering_lock.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

// Views have a column for each of these if the sweep names no metrics; an SQL view cannot have thousands of columns.
const std::vector<std::string> usual_metrics = {"cycles", "kernels.0.cycles", "kernels.0.theoretical_occupancy",
                                                "kernels.0.metrics.achieved_occupancy", "kernels.0.metrics.ipc"};

const char* const tables = R"(
CREATE TABLE store(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE sweeps(sweep TEXT PRIMARY KEY, metrics TEXT) WITHOUT ROWID;
CREATE TABLE dropped(sweep TEXT, "constraint" TEXT, points INTEGER, PRIMARY KEY(sweep, "constraint")) WITHOUT ROWID;
CREATE TABLE points(sweep TEXT, position INTEGER, id TEXT, PRIMARY KEY(sweep, position)) WITHOUT ROWID;
CREATE TABLE axes(sweep TEXT, number INTEGER, axis TEXT, PRIMARY KEY(sweep, number)) WITHOUT ROWID;
CREATE TABLE axis_values(sweep TEXT, position INTEGER, number INTEGER, value, PRIMARY KEY(sweep, position, number)) WITHOUT ROWID;
CREATE TABLE results(result INTEGER PRIMARY KEY, id TEXT UNIQUE, status TEXT, reason TEXT);
CREATE TABLE metric_names(metric INTEGER PRIMARY KEY, path TEXT UNIQUE);
CREATE TABLE metric_values(result INTEGER, metric INTEGER, value, PRIMARY KEY(result, metric)) WITHOUT ROWID;
CREATE VIEW metrics AS SELECT id, path, value FROM metric_values JOIN results USING(result) JOIN metric_names USING(metric);
)";

std::string quoted(const std::string& text, char mark) {
  std::string result(1, mark);
  for (const char c : text) result += c == mark ? std::string(2, mark) : std::string(1, c);
  return result + mark;
}

// Numbers are stored as numbers, so that they sort and compare as numbers.
void bind_text_or_number(sql_statement& s, int parameter, const std::string& text) {
  std::int64_t whole = 0;
  double real = 0;
  if (parse_signed(text, whole) && text == std::to_string(whole)) {
    s.bind(parameter, whole);
  } else if (text.find_first_not_of("0123456789.-") == std::string::npos && parse_float(text, real)) {
    s.bind(parameter, real);
  } else {
    s.bind(parameter, text);
  }
}

/// Writes one database.
class writer {
 public:
  writer(const std::string& file, const sweep_plan& plan, const result_store& store)
      : database_(file, sql_database::mode::create), plan_(plan), store_(store) {}

  status_counts write() {
    database_.run("BEGIN");
    database_.run(tables);
    database_.prepare("INSERT INTO store VALUES('schema', 'heddle.sweep_store/1'), ('version', ?)")
        .bind(1, store_.version())
        .run();
    sweeps();
    results();
    for (const auto& [name, metrics] : views_) view(name, metrics);
    database_.run("COMMIT");
    return counts_;
  }

  sql_database& database() { return database_; }

 private:
  // The present sweep comes from the plan, all others from the old database; sweeps are ordered by name.
  void sweeps() {
    const std::string& own = plan_.file().name;
    std::vector<std::string> names = {own};
    if (::access(store_.database().c_str(), F_OK) == 0) {
      old_ = std::make_unique<sql_database>(store_.database(), sql_database::mode::read);
      sql_statement rows = old_->prepare("SELECT sweep FROM sweeps WHERE sweep != ?");
      rows.bind(1, own);
      while (rows.step()) names.push_back(rows.text(0));
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (name == own) {
        own_sweep();
      } else {
        other_sweep(name);
      }
    }
  }

  void own_sweep() {
    const std::string& name = plan_.file().name;
    database_.prepare("INSERT INTO sweeps VALUES(?, ?)").bind(1, name).bind(2, join(plan_.file().metrics, ", ")).run();
    std::map<std::string, std::uint64_t> dropped;
    for (const auto& [constraint, points] : plan_.dropped()) dropped[constraint] = points;
    for (const auto& [constraint, points] : dropped) {
      database_.prepare("INSERT INTO dropped VALUES(?, ?, ?)")
          .bind(1, name)
          .bind(2, constraint)
          .bind(3, static_cast<std::int64_t>(points))
          .run();
    }
    const auto& axes = plan_.file().axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      database_.prepare("INSERT INTO axes VALUES(?, ?, ?)")
          .bind(1, name)
          .bind(2, static_cast<std::int64_t>(i))
          .bind(3, axes[i].name)
          .run();
    }
    sql_statement point = database_.prepare("INSERT INTO points VALUES(?, ?, ?)");
    sql_statement value = database_.prepare("INSERT INTO axis_values VALUES(?, ?, ?, ?)");
    for (std::size_t p = 0; p < plan_.size(); ++p) {
      point.bind(1, name).bind(2, static_cast<std::int64_t>(p)).bind(3, plan_.id_text(p)).run();
      for (std::size_t i = 0; i < axes.size(); ++i) {
        value.bind(1, name).bind(2, static_cast<std::int64_t>(p)).bind(3, static_cast<std::int64_t>(i));
        bind_text_or_number(value, 4, plan_.value(p, i));
        value.run();
      }
      ids_.emplace_back(plan_.id_text(p), views_.size());
    }
    views_.emplace_back(name, plan_.file().metrics);
  }

  void other_sweep(const std::string& name) {
    std::vector<std::string> metrics;
    sql_statement sweep = old_->prepare("SELECT metrics FROM sweeps WHERE sweep = ?");
    sweep.bind(1, name);
    const std::string list = sweep.step() ? sweep.text(0) : "";
    if (!list.empty()) metrics = split(list, ',');
    for (std::string& path : metrics) path.erase(0, path.find_first_not_of(' '));
    copy(name, "sweeps", 2);
    copy(name, "dropped", 3);
    copy(name, "points", 3);
    copy(name, "axes", 3);
    copy(name, "axis_values", 4);
    sql_statement ids = old_->prepare("SELECT id FROM points WHERE sweep = ? ORDER BY position");
    ids.bind(1, name);
    while (ids.step()) ids_.emplace_back(ids.text(0), views_.size());
    views_.emplace_back(name, metrics);
  }

  void copy(const std::string& name, const std::string& table, int columns) {
    sql_statement from = old_->prepare("SELECT * FROM " + table + " WHERE sweep = ? ORDER BY 1, 2" +
                                       std::string(columns > 2 ? ", 3" : ""));
    std::string places = "?";
    for (int c = 1; c < columns; ++c) places += ", ?";
    sql_statement to = database_.prepare("INSERT INTO " + table + " VALUES(" + places + ")");
    from.bind(1, name);
    while (from.step()) {
      for (int c = 0; c < columns; ++c) to.bind(c + 1, from, c);
      to.run();
    }
  }

  // In the order of ids; a point of several sweeps has the metrics that any of them requests.
  void results() {
    std::sort(ids_.begin(), ids_.end());
    sql_statement row = database_.prepare("INSERT INTO results VALUES(?, ?, ?, ?)");
    add_name_ = std::make_unique<sql_statement>(database_.prepare("INSERT INTO metric_names VALUES(?, ?)"));
    add_value_ = std::make_unique<sql_statement>(database_.prepare("INSERT INTO metric_values VALUES(?, ?, ?)"));
    metric_leaves leaves;
    std::int64_t number = 0;
    for (std::size_t i = 0; i < ids_.size();) {
      const std::string id = ids_[i].first;
      std::set<std::string> wanted;
      bool all = false;
      std::size_t own_rows = 0;
      for (; i < ids_.size() && ids_[i].first == id; ++i) {
        const auto& [sweep, metrics] = views_[ids_[i].second];
        if (sweep == plan_.file().name) ++own_rows;
        if (metrics.empty()) all = true;
        wanted.insert(metrics.begin(), metrics.end());
      }
      point_result r = store_.read(id);
      if (!r.metrics.empty() && !read_leaves(r.metrics, leaves)) r = {};
      counts_[static_cast<std::size_t>(r.status)] += own_rows;
      row.bind(1, ++number).bind(2, id).bind(3, name_of(r.status)).bind(4, r.reason).run();
      if (r.metrics.empty()) continue;
      for (const auto& [path, value] : leaves)
        if (all || wanted.count(path)) add_value(number, path, value);
    }
  }

  void add_value(std::int64_t result, const std::string& path, const nlohmann::json& value) {
    const auto [known, fresh] = metric_numbers_.emplace(path, static_cast<std::int64_t>(metric_numbers_.size()) + 1);
    if (fresh) add_name_->bind(1, known->second).bind(2, path).run();
    add_value_->bind(1, result).bind(2, known->second);
    if (value.is_number_float()) {
      add_value_->bind(3, value.get<double>());
    } else if (value.is_number() || value.is_boolean()) {
      add_value_->bind(3,
                       value.is_boolean() ? static_cast<std::int64_t>(value.get<bool>()) : value.get<std::int64_t>());
    } else if (value.is_string()) {
      add_value_->bind(3, value.get_ref<const std::string&>());
    } else {
      add_value_->bind_null(3);
    }
    add_value_->run();
  }

  // The table of a sweep for people: one row a point, axes and metrics side by side.
  void view(const std::string& sweep, const std::vector<std::string>& metrics) {
    std::string sql =
        "CREATE VIEW " + quoted("sweep " + sweep, '"') + " AS SELECT position, p.id AS id, status, reason";
    sql_statement axes = database_.prepare("SELECT number, axis FROM axes WHERE sweep = ? ORDER BY number");
    axes.bind(1, sweep);
    while (axes.step()) {
      sql += ", (SELECT value FROM axis_values v WHERE v.sweep = p.sweep AND v.position = p.position AND v.number = " +
             std::to_string(axes.integer(0)) + ") AS " + quoted(axes.text(1), '"');
    }
    for (const std::string& path : metrics.empty() ? usual_metrics : metrics) {
      sql +=
          ", (SELECT value FROM metric_values v WHERE v.result = r.result AND v.metric = (SELECT metric FROM metric_names WHERE "
          "path = " +
          quoted(path, '\'') + ")) AS " + quoted(path, '"');
    }
    database_.run(sql + " FROM points p JOIN results r ON r.id = p.id WHERE p.sweep = " + quoted(sweep, '\'') +
                  " ORDER BY position");
  }

  sql_database database_;
  std::unique_ptr<sql_database> old_;
  const sweep_plan& plan_;
  const result_store& store_;
  std::vector<std::pair<std::string, std::vector<std::string>>> views_;  // sweeps and their requested metrics
  std::vector<std::pair<std::string, std::size_t>> ids_;                 // of all points, with their index in views_
  std::unordered_map<std::string, std::int64_t> metric_numbers_;
  std::unique_ptr<sql_statement> add_name_;
  std::unique_ptr<sql_statement> add_value_;
  status_counts counts_{};
};

}  // namespace

status_counts gather(const sweep_plan& plan, const result_store& store) {
  gathering_lock lock(store.folder());
  store.remove_old_unfinished();
  result_files files;
  files.observe(lock);
  const std::string temporary = files.reserve_name(store.database());
  const std::string table = files.reserve(store.csv());
  status_counts counts{};
  {
    writer w(temporary, plan, store);
    counts = w.write();
    csv_file csv(table);
    write_csv(w.database(), plan, csv);
    csv.close();
  }
  files.commit();
  return counts;
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/parameter_table.h"
#include "heddle/config/suggestion.h"
#include "testbench/correlate/measurements.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

const std::vector<std::string> own_columns = {"gpu", "kernel", "run",     "launch",        "label",
                                              "use", "origin", "licence", "launch_cycles", "bytes"};

/// Reads the rows of a suite.
class suite_reader {
 public:
  explicit suite_reader(const csv_table& table) : table_(table) {
    const auto slash = table.file.rfind('/');
    if (slash != std::string::npos) folder_ = table.file.substr(0, slash + 1);
  }

  measurements read() {
    check_header();
    measurements all;
    auto row = table_.rows.begin();
    if (row != table_.rows.end() && text(*row, "gpu").empty() && text(*row, "kernel").empty()) {
      check_units(*row);
      ++row;
    }
    for (; row != table_.rows.end(); ++row) all.launches.push_back(launch_of(*row));
    if (all.launches.empty()) throw input_error(printable(table_.file) + ": the suite has no row");
    return all;
  }

 private:
  [[noreturn]] void fail(const csv_row& row, const std::string& message) const {
    throw input_error(table_.place(row) + ": " + message);
  }

  void check_header() {
    std::vector<std::string> known = own_columns;
    for (const metric_name& m : metric_names()) known.emplace_back(m.name);
    std::set<std::string> seen;
    units_.assign(table_.header.cells.size(), "");
    for (const std::string& name : table_.header.cells) {
      const bool own = std::find(own_columns.begin(), own_columns.end(), name) != own_columns.end();
      if (!own && find_metric(name) == nullptr)
        fail(table_.header, "unknown column '" + printable(name) + "', expected one of " + join(own_columns, ", ") +
                                " or the name of a metric" + suggestion(name, known));
      if (!seen.insert(name).second) fail(table_.header, "the column '" + printable(name) + "' is given twice");
      metrics_.push_back(own ? nullptr : find_metric(name));
    }
  }

  void check_units(const csv_row& row) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      if (row.cells[c].empty()) continue;
      if (c >= metrics_.size() || metrics_[c] == nullptr || !has_unit(*metrics_[c], row.cells[c]))
        fail(row,
             (c < metrics_.size() ? "column '" + table_.header.cells[c] + "' cannot have" : "there is no column for") +
                 " the unit '" + printable(row.cells[c]) + "', expected one such as cycle, inst, %, byte, us or GB/s");
      units_[c] = row.cells[c];
    }
  }

  std::string text(const csv_row& row, const char* name) const { return row.at(table_.column(name)); }

  double number(const csv_row& row, const char* name) const {
    const std::string written = text(row, name);
    double value = 0;
    if (!written.empty() && (!parse_float(written, value) || !(value >= 0 && value < 1e18)))
      fail(row, std::string(name) + ": got '" + printable(written) + "', expected a number");
    return value;
  }

  [[nodiscard]] launch_selection selection_of(const csv_row& row) const {
    launch_selection s;
    const std::string written = text(row, "launch");
    if (written.empty() || parse_unsigned(written, s.number)) return s;
    const auto colon = written.rfind(':');
    s.kernel = written.substr(0, colon);
    const bool is_name = !s.kernel.empty() && s.kernel.find_first_of("0123456789-+") != 0;
    if (!is_name || (colon != std::string::npos && !parse_unsigned(written.substr(colon + 1), s.number)))
      fail(row, "launch: got '" + printable(written) + "', expected a number, KERNEL or KERNEL:NUMBER");
    return s;
  }

  [[nodiscard]] std::string parameters_of(const csv_row& row) const {
    const std::string written = text(row, "use"), begin = "identifies ";
    if (written == "compared") return "";
    if (written.compare(0, begin.size(), begin) != 0)
      fail(row, "use: got '" + printable(written) + "', expected 'compared' or 'identifies SECTION.KEY'");
    for (const std::string& key : split(written.substr(begin.size()), ' '))
      if (find_parameter(key) == nullptr) fail(row, "use: unknown parameter '" + printable(key) + "'");
    return written.substr(begin.size());
  }

  [[nodiscard]] measured_launch launch_of(const csv_row& row) const {
    if (row.cells.size() > table_.header.cells.size())
      fail(row, "expected " + std::to_string(table_.header.cells.size()) + " cells, got " +
                    std::to_string(row.cells.size()));
    measured_launch m;
    m.where = table_.place(row);
    m.folder = folder_;
    m.gpu = text(row, "gpu");
    m.kernel = text(row, "kernel");
    m.run = text(row, "run");
    for (const char* name : {"gpu", "kernel", "run", "origin"})
      if (text(row, name).empty()) fail(row, std::string("expected a value in column '") + name + "'");
    m.selection = selection_of(row);
    const std::string label = text(row, "label");
    if (!label.empty() && label != "long")
      fail(row, "label: got '" + printable(label) + "', expected 'long' or nothing");
    m.is_long = label == "long";
    m.identifies = parameters_of(row);
    m.origin = text(row, "origin");
    m.licence = text(row, "licence");
    if (text(row, "launch_cycles") == "gpu") m.launch_cycles.reset();
    else m.launch_cycles = number(row, "launch_cycles");
    m.bytes = number(row, "bytes");
    for (std::size_t c = 0; c < metrics_.size(); ++c) add_value(row, c, m);
    if (m.values.empty()) fail(row, "the row has no measured value");
    return m;
  }

  void add_value(const csv_row& row, std::size_t c, measured_launch& m) const {
    if (metrics_[c] == nullptr) return;
    std::optional<double> value;
    try {
      value = read_value(*metrics_[c], row.at(c), units_[c]);
    } catch (const input_error& e) {
      fail(row, table_.header.cells[c] + ": " + e.what());
    }
    const std::string name = metrics_[c]->name;
    if (value && m.bytes == 0 && (name == "bytes_per_second" || name == "bytes_per_cycle_per_sm"))
      fail(row, name + " needs a value in column 'bytes', what the launch moves");
    if (value) m.values.push_back({metrics_[c], *value});
  }

  const csv_table& table_;
  std::string folder_;
  std::vector<const metric_name*> metrics_;  // by column; nullptr: a column of the suite's own
  std::vector<std::string> units_;
};

}  // namespace

bool is_suite_header(const csv_row& row) { return row.has("gpu") && row.has("kernel") && row.has("run"); }

measurements read_suite(const csv_table& table) { return suite_reader(table).read(); }

namespace {

// --gpu with a suite: only the rows of that chip.
void keep_rows_of(const std::string& gpu, const std::string& file, measurements& all) {
  const auto other = [&](const measured_launch& m) { return m.gpu != gpu; };
  all.launches.erase(std::remove_if(all.launches.begin(), all.launches.end(), other), all.launches.end());
  if (all.launches.empty())
    throw input_error("'" + printable(file) + "' has no row of '" + printable(gpu) +
                      "', expected for --gpu a value of its column gpu");
}

}  // namespace

measurements read_measurements(const std::string& file, const export_options& o) {
  constexpr std::uint64_t largest = 256u << 20;
  if (readable_size(file, "correlate") > largest)
    throw input_error("'" + printable(file) + "' is larger than 256 MiB, expected a table of measurements");
  const csv_table table = read_csv(read_file(file, "correlate"), file,
                                   [](const csv_row& r) { return is_suite_header(r) || is_export_header(r); });
  if (table.header.cells.empty())
    throw input_error(
        printable(file) +
        ":1: expected a suite, whose header has gpu, kernel and run, or a CSV that Nsight Compute (ncu --csv) or "
        "nvprof (--csv) has written");
  const bool is_suite = is_suite_header(table.header);
  if (is_suite && (!o.runs.empty() || o.launch_cycles != 0.0))
    throw input_error(
        "'" + printable(file) +
        "' is a suite, which says this itself, expected a profiler's export for --run and --launch-cycles");
  measurements all = is_suite ? read_suite(table) : read_export(table, o);
  if (is_suite && !o.gpu.empty()) keep_rows_of(o.gpu, file, all);
  for (const measured_launch& m : all.launches)
    for (const measured_value& v : m.values)
      if (std::string(v.metric->name) == "cycles" && v.value <= m.launch_cycles)
        throw input_error(m.where + ": cycles: the launch has " + value_text(*v.metric, v.value) +
                          ", expected more than the " + value_text(*v.metric, m.launch_cycles.value_or(0)) +
                          " before its first block and after its last (launch cycles)");
  return all;
}

}  // namespace heddle::testbench

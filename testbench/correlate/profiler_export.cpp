// SPDX-License-Identifier: MIT
// What profilers export, read as it is: `ncu --csv` with --page raw (a row for each launch, a column for each metric,
// units in the row after the header) and --page details (a row for each metric of each launch), nvprof's --metrics (a
// row for each metric of each kernel, the mean of its launches) and --print-gpu-trace (a row for each launch).
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "testbench/correlate/measurements.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

enum class layout : std::uint8_t { none, nsight_details, nsight_raw, nvprof_metrics, nvprof_trace };

layout layout_of(const csv_row& header) {
  if (header.has("Kernel Name") && header.has("ID"))
    return header.has("Metric Name") && header.has("Metric Value") ? layout::nsight_details : layout::nsight_raw;
  if (header.has("Kernel") && header.has("Metric Name") && header.has("Avg")) return layout::nvprof_metrics;
  if ((header.has("Name") || header.has("Kernel")) && (header.has("Duration") || header.has("Correlation_ID")))
    return layout::nvprof_trace;
  return layout::none;
}

/// "(1, 2, 3)" and "1 2 3" as "1x2x3".
std::string shape_of(const std::string& text) {
  std::string shape;
  bool digits = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !digits && !shape.empty()) shape += 'x';
    if (digit) shape += c;
    digits = digit;
  }
  return shape;
}

/// A demangled name without return type, parameters and template arguments.
std::string base_name(const std::string& kernel) {
  std::string name = kernel.substr(0, kernel.find('('));
  name.resize(std::min(name.size(), name.find('<')));
  const auto space = name.find_last_of(' ');
  return space == std::string::npos || space + 1 == name.size() ? name : name.substr(space + 1);
}

/// Assigns the runs of --run to kernels.
class run_finder {
 public:
  explicit run_finder(const std::vector<std::string>& runs) {
    for (const std::string& written : runs) {
      // KERNEL=RUN, unless the text before the first '=' belongs to the run (an option's value).
      const auto equals = written.find('=');
      const auto blank = written.find_first_of(" \t");
      const bool pattern = equals != std::string::npos && (blank == std::string::npos || blank > equals) && equals > 0;
      if (pattern) runs_.emplace_back(written.substr(0, equals), written.substr(equals + 1));
      else runs_.emplace_back("*", written);
    }
  }

  [[nodiscard]] const std::string* find(const std::string& kernel) const {
    for (const auto& [pattern, run] : runs_)
      for (const std::string& name : {kernel, base_name(kernel)})
        if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return &run;
    return nullptr;
  }

 private:
  std::vector<std::pair<std::string, std::string>> runs_;
};

/// Reads one export.
class export_reader {
 public:
  export_reader(const csv_table& table, const export_options& o) : table_(table), options_(o), runs_(o.runs) {
    if (o.gpu.empty())
      throw input_error(printable(table.file) + " is a profiler's export: expected --gpu, the chip it was measured on");
    if (o.runs.empty())
      throw input_error(printable(table.file) +
                        " is a profiler's export: expected --run [KERNEL=]RUN, a job or program that does the same");
  }

  measurements read() {
    switch (layout_of(table_.header)) {
      case layout::nsight_details: details("Kernel Name", "ID", "Metric Name", "Metric Unit", "Metric Value"); break;
      case layout::nvprof_metrics: details("Kernel", "", "Metric Name", "", "Avg"); break;
      case layout::nsight_raw: wide("Kernel Name"); break;
      case layout::nvprof_trace: wide(table_.header.has("Name") ? "Name" : "Kernel"); break;
      case layout::none: break;
    }
    auto& all = found_.launches;
    all.erase(std::remove_if(all.begin(), all.end(), [](const measured_launch& m) { return m.values.empty(); }),
              all.end());
    if (all.empty())
      throw input_error(printable(table_.file) +
                        ": no launch of a kernel that --run names has a metric that Heddle has");
    std::sort(found_.ignored.begin(), found_.ignored.end());
    found_.ignored.erase(std::unique(found_.ignored.begin(), found_.ignored.end()), found_.ignored.end());
    return std::move(found_);
  }

 private:
  void details(const char* kernel, const char* id, const char* metric, const char* unit, const char* value) {
    const std::size_t kernel_at = table_.column(kernel), id_at = table_.column(id), metric_at = table_.column(metric),
                      unit_at = table_.column(unit), value_at = table_.column(value);
    std::map<std::string, std::size_t> place_of;  // by launch
    for (const csv_row& row : table_.rows) {
      if (row.at(kernel_at).empty()) continue;
      check_complete(row);
      const auto [at, fresh] = place_of.try_emplace(row.at(id_at) + "\n" + row.at(kernel_at), found_.launches.size());
      if (fresh && !add_launch(row, row.at(kernel_at))) at->second = csv_table::none;
      if (at->second == csv_table::none) continue;
      found_.launches[at->second].selection.mean = id_at == csv_table::none;
      add_value(found_.launches[at->second], row, row.at(metric_at), row.at(unit_at), row.at(value_at));
    }
  }

  void wide(const char* kernel) {
    const std::size_t kernel_at = table_.column(kernel);
    auto row = table_.rows.begin();
    csv_row units;
    if (row != table_.rows.end() && row->at(kernel_at).empty()) units = *row++;
    for (; row != table_.rows.end(); ++row) {
      const std::string name = row->at(kernel_at);
      if (name.empty() || name[0] == '[') continue;  // a copy or a fill
      check_complete(*row);
      if (!add_launch(*row, name)) continue;
      for (std::size_t c = 0; c < table_.header.cells.size(); ++c)
        add_value(found_.launches.back(), *row, table_.header.cells[c], units.at(c), row->at(c));
    }
  }

  // A file that was cut off ends with a short row.
  void check_complete(const csv_row& row) const {
    if (row.cells.size() != table_.header.cells.size())
      throw input_error(table_.place(row) + ": expected " + std::to_string(table_.header.cells.size()) +
                        " cells, as the header has, got " + std::to_string(row.cells.size()));
  }

  bool add_launch(const csv_row& row, const std::string& kernel) {
    const std::uint64_t number = launches_of_[kernel]++;
    const std::string* run = runs_.find(kernel);
    if (run == nullptr) {
      found_.ignored.push_back("kernel " + kernel);
      return false;
    }
    measured_launch m;
    m.where = table_.place(row);
    m.gpu = options_.gpu;
    m.kernel = base_name(kernel) + (number > 0 ? " #" + std::to_string(number + 1) : "");
    m.run = *run;
    m.selection = {base_name(kernel), number, false};
    m.origin = table_.file;
    m.launch_cycles = options_.launch_cycles;
    m.grid = shape_of(row.at(table_.column("Grid Size")));
    if (m.grid.empty() && table_.column("Grid X") != csv_table::none)
      m.grid = row.at(table_.column("Grid X")) + "x" + row.at(table_.column("Grid Y")) + "x" +
               row.at(table_.column("Grid Z"));
    found_.launches.push_back(std::move(m));
    return true;
  }

  void add_value(measured_launch& m, const csv_row& row, const std::string& name, const std::string& unit,
                 const std::string& text) {
    static const std::vector<std::string> known = {
        "ID",     "Process ID", "Process Name", "Host Name", "Kernel Name",  "Context", "Stream",        "Kernel Time",
        "Device", "CC",         "Block Size",   "Grid Size", "Section Name", "Start",   "Grid X",        "Grid Y",
        "Grid Z", "Block X",    "Block Y",      "Block Z",   "Name",         "Kernel",  "Correlation_ID"};
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    const metric_name* metric = find_metric(name);
    if (metric == nullptr || !has_unit(*metric, unit)) {
      if (!text.empty()) found_.ignored.push_back(name + (metric == nullptr ? "" : " in " + unit));
      return;
    }
    std::optional<double> value;
    try {
      value = read_value(*metric, text, unit);
    } catch (const input_error& e) {
      throw input_error(table_.place(row) + ": " + printable(name) + ": " + e.what());
    }
    // A metric may be there under several names, as on the raw page; the first one counts.
    const bool twice =
        std::any_of(m.values.begin(), m.values.end(), [&](const measured_value& v) { return v.metric == metric; });
    if (value && !twice) m.values.push_back({metric, *value});
  }

  const csv_table& table_;
  const export_options& options_;
  run_finder runs_;
  std::map<std::string, std::uint64_t> launches_of_;  // by kernel
  measurements found_;
};

}  // namespace

bool is_export_header(const csv_row& row) { return layout_of(row) != layout::none; }

measurements read_export(const csv_table& table, const export_options& o) { return export_reader(table, o).read(); }

}  // namespace heddle::testbench

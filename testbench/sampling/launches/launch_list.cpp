// SPDX-License-Identifier: MIT
#include "testbench/sampling/launches/launch_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "heddle/frontend/sass_trace/read/kernel_header.h"
#include "heddle/frontend/sass_trace/read/kernels_list.h"
#include "testbench/correlate/csv_table.h"
#include "testbench/sampling/launches/trace_code.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::array names = {"Name", "Kernel Name", "Kernel", "name", "kernel"};
constexpr double longest_time = 1e18;
constexpr std::array durations = {"Duration (ns)", "Duration", "gpu__time_duration.sum",
                                  "duration_ns",   "duration", "time"};
// What may differ between launches of one kernel, in an export of a profiler.
constexpr std::array shapes = {"GrdX",   "GrdY",    "GrdZ",      "BlkX",       "BlkY",   "BlkZ",
                               "Grid",   "Block",   "Grid Size", "Block Size", "Grid X", "Grid Y",
                               "Grid Z", "Block X", "Block Y",   "Block Z",    "shape"};

// Of the program, in which a launch was.
constexpr std::array ranges = {"NVTX Range", "NVTX", "nvtx", "Range"};

template <std::size_t N>
std::size_t first_column(const csv_row& header, const std::array<const char*, N>& of) {
  for (const char* name : of)
    for (std::size_t k = 0; k < header.cells.size(); ++k)
      if (header.cells[k] == name) return k;
  return csv_table::none;
}

bool is_header(const csv_row& row) {
  return first_column(row, names) != csv_table::none && first_column(row, durations) != csv_table::none;
}

// Blanks and grouping commas around a number's digits are no part of it.
bool parse_time(std::string text, double& time) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  return parse_float(text, time) && std::isfinite(time);
}

// Profilers write units in the row behind the header.
bool is_unit(const std::string& text) {
  constexpr std::array units = {"ns", "us", "ms", "s", "nsecond", "usecond", "msecond", "second", "cycle", ""};
  return std::find(units.begin(), units.end(), text) != units.end();
}

// A trace's name begins with its kernel's, and its size tells of its work: in steps of a twentieth.
std::string work_of(const std::string& trace) {
  std::error_code none;
  const std::uintmax_t bytes = std::filesystem::file_size(trace, none);
  constexpr double step = 1.05;
  return none ? "" : std::to_string(std::lround(std::log(static_cast<double>(bytes) + 1) / std::log(step)));
}

listed_launch launch_of(const std::string& trace, std::set<std::uint64_t>& streams) {
  sass_trace::line_reader reader(trace);
  const sass_trace::kernel_header h = sass_trace::read_header(reader);
  streams.insert(h.stream);
  listed_launch l;
  l.name = h.name;
  l.shape = fmt::format("grid {}x{}x{}, block {}x{}x{}, {} registers, {} bytes, size {}, {}", h.grid[0], h.grid[1],
                        h.grid[2], h.block[0], h.block[1], h.block[2], h.registers, h.shared_bytes, work_of(trace),
                        read_code(reader, h).text());
  l.trace = trace;
  return l;
}

}  // namespace

double launch_list::time() const {
  double sum = 0;
  for (const listed_launch& l : launches) sum += l.time;
  return sum;
}

launch_list read_durations(const std::string& file, bool with_counters) {
  const csv_table table = read_csv(read_file_or_stream(file, "the durations"), file, is_header);
  if (table.header.cells.empty())
    throw input_error(printable(file) + ": no line names columns of kernels (" + std::string(names[0]) +
                      ") and durations (" + durations[0] +
                      "), as nsys stats --report cuda_gpu_trace --format csv does");
  const std::size_t name = first_column(table.header, names), duration = first_column(table.header, durations),
                    range = first_column(table.header, ranges);
  const counter_columns counters(table);
  launch_list list;
  list.file = file;
  list.has_times = true;
  if (with_counters) list.counters = counters.names();
  for (const csv_row& row : table.rows) {
    listed_launch l;
    l.name = row.at(name);
    if (l.name.empty() || begins(l.name, "[CUDA ")) continue;
    if (!parse_time(row.at(duration), l.time)) {
      if (&row == &table.rows.front() && is_unit(row.at(duration))) continue;
      throw input_error(table.place(row) + ": got '" + printable(row.at(duration)) + "' as the duration of '" +
                        printable(l.name) + "', expected a number");
    }
    if (l.time <= 0 || l.time > longest_time)
      throw input_error(table.place(row) + ": '" + printable(l.name) + "' took " + printable(row.at(duration)) +
                        ", expected more than 0, and at most 1e18");
    for (const char* column : shapes)
      if (const std::size_t k = table.column(column); k != csv_table::none) l.shape += " " + row.at(k);
    l.range = row.at(range);
    if (with_counters) counters.add(row, l.name, list.counters);
    list.launches.push_back(std::move(l));
  }
  if (list.launches.empty()) throw input_error(printable(file) + ": no launch is in it");
  return list;
}

launch_list read_launches(const std::string& file, bool with_counters) {
  if (ends(file, ".csv") || file == "-") return read_durations(file, with_counters);
  launch_list list;
  list.file = file;
  std::map<std::string, listed_launch> known;  // a trace may be named again
  std::set<std::uint64_t> streams;
  for (const sass_trace::list_command& c : sass_trace::read_kernels_list(file)) {
    if (c.what != sass_trace::list_command::kind::kernel) continue;
    auto& l = known[c.file];
    if (l.trace.empty()) l = launch_of(c.file, streams);
    list.launches.push_back(l);
  }
  list.has_streams = streams.size() > 1;
  return list;
}

void add_durations(launch_list& list, const std::string& file, bool with_counters) {
  launch_list measured = read_durations(file, with_counters);
  if (measured.launches.size() != list.launches.size())
    throw input_error(printable(file) + ": durations of " + grouped(measured.launches.size()) + " launches, but " +
                      printable(list.file) + " has " + grouped(list.launches.size()));
  for (std::size_t k = 0; k < list.launches.size(); ++k) {
    list.launches[k].time = measured.launches[k].time;
    // Profilers write ranges in front of names, too.
    const std::string& range = measured.launches[k].range;
    list.launches[k].range = range.empty() ? measured.launches[k].name : range;
  }
  list.has_times = true;
  list.counters = std::move(measured.counters);
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#include "testbench/energy/power_measurements.h"

#include <cmath>
#include <set>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/message.h"
#include "heddle/config/parameter_table.h"
#include "heddle/config/suggestion.h"
#include "testbench/correlate/csv_table.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::size_t suffix = 3;  // "_pj"

std::vector<std::string> event_names() {
  std::vector<std::string> names;
  for (const parameter& p : parameters())
    if (p.section == "energy" && p.unit == parameter_unit::pj) names.push_back(p.key.substr(0, p.key.size() - suffix));
  return names;
}

class reader {
 public:
  reader(const std::string& file, unsigned sm_count)
      : sms_(sm_count), table_(read_csv(read_file(file, "energy-fit"), file, [](const csv_row& r) {
          return r.has("kernel") && r.has("watts");
        })) {
    all_.file = file;
    if (table_.header.cells.empty()) without_header(file);
  }

  power_measurements read() {
    find_columns();
    for (const csv_row& row : table_.rows) add(row);
    if (all_.kernels.empty()) throw input_error(printable(all_.file) + ": expected a row for each measured kernel");
    return std::move(all_);
  }

 private:
  /// Throws input_error that names the columns of the first row in place of those that are needed.
  [[noreturn]] static void without_header(const std::string& file) {
    const auto is_row = [](const csv_row& r) {
      const std::string& first = r.cells.front();
      return r.cells.size() > 1 && first.compare(0, 1, "#") != 0 && first.compare(0, 2, "==") != 0;
    };
    const csv_table other = read_csv(read_file(file, "energy-fit"), file, is_row);
    if (other.header.cells.empty())
      throw input_error(printable(file) + ": expected a header with the columns kernel, watts and active_sms");
    std::vector<std::string> missing;
    for (const char* name : {"kernel", "watts", "active_sms"})
      if (!other.header.has(name)) missing.emplace_back(name);
    throw input_error(other.place(other.header) + ": got the columns " + printable(join(other.header.cells, ", ")) +
                      ", expected also " + join(missing, ", "));
  }

  void find_columns() {
    const std::vector<std::string> events = event_names();
    const std::vector<std::string> others = {"kernel",    "watts",      "seconds", "cycles",
                                             "clock_mhz", "active_sms", "origin",  "licence"};
    std::vector<std::string> known = others;
    known.insert(known.end(), events.begin(), events.end());
    std::set<std::string> seen;
    for (std::size_t c = 0; c < table_.header.cells.size(); ++c) {
      const std::string& name = table_.header.cells[c];
      const std::set<std::string> all(known.begin(), known.end());
      if (all.count(name) == 0)
        fail(table_.header, "unknown column '" + printable(name) + "', expected a key of [energy] without _pj" +
                                suggestion(name, known));
      if (!seen.insert(name).second) fail(table_.header, "column '" + name + "' occurs twice");
      if (std::set<std::string>(others.begin(), others.end()).count(name) != 0) continue;
      all_.events.push_back(name);
      columns_.push_back(c);
    }
    if (seen.count("active_sms") == 0) fail(table_.header, "expected a column active_sms");
    timed_ = seen.count("seconds") != 0;
    clocked_ = seen.count("clock_mhz") != 0;
    if (!timed_ && (seen.count("cycles") == 0 || seen.count("clock_mhz") == 0))
      fail(table_.header, "expected a column seconds, or cycles and clock_mhz");
  }

  void add(const csv_row& row) {
    if (row.cells.size() > table_.header.cells.size())
      fail(row, "got " + std::to_string(row.cells.size()) + " fields, expected at most " +
                    std::to_string(table_.header.cells.size()) + " as in the header");
    measured_kernel k;
    k.name = row.at(table_.column("kernel"));
    if (k.name.empty()) fail(row, "expected the name of a kernel");
    if (!names_.insert(k.name).second)
      fail(row, "kernel '" + printable(k.name) + "' occurs twice, expected one row, or names that tell them apart");
    k.watts = positive(row, "watts");
    if (k.watts > most_watts) fail(row, "watts: got " + row.at(table_.column("watts")) + ", expected at most 1e6");
    k.active_sms = number(row, table_.column("active_sms"));
    if (k.active_sms > sms_)
      fail(row, "active_sms: got " + row.at(table_.column("active_sms")) + ", expected at most " +
                    std::to_string(sms_) + ", the SMs of --gpu");
    if (!timed_ || clocked_) {
      const double clock_mhz = positive(row, "clock_mhz");
      if (all_.clock_mhz != 0 && clock_mhz != all_.clock_mhz)
        fail(row, "clock_mhz: got " + row.at(table_.column("clock_mhz")) +
                      ", expected that of the rows before: the voltage of another clock changes all energies");
      const numeric_range& range = find_parameter("energy.reference_clock_mhz")->range;
      if (!range.holds(clock_mhz))
        fail(row, "clock_mhz: got " + row.at(table_.column("clock_mhz")) + ", expected " + range.text());
      all_.clock_mhz = clock_mhz;
    }
    k.seconds = timed_ ? positive(row, "seconds") : positive(row, "cycles") / (all_.clock_mhz * 1e6);
    for (const std::size_t c : columns_) k.events.push_back(number(row, c));
    all_.kernels.push_back(std::move(k));
  }

  [[nodiscard]] double number(const csv_row& row, std::size_t column) const {
    constexpr double most = 1e18;  // no counter of a run gets there
    double value = 0;
    const bool hexadecimal = row.at(column).find_first_of("xX") != std::string::npos;
    if (hexadecimal || !parse_float(row.at(column), value) || !(value >= 0 && std::isfinite(value)))
      fail(row, table_.header.at(column) + ": got '" + printable(row.at(column)) + "', expected a number of 0 or more");
    if (value > most) fail(row, table_.header.at(column) + ": got " + row.at(column) + ", expected at most 1e18");
    return value;
  }
  double positive(const csv_row& row, const char* name) const {
    const std::size_t column = table_.column(name);
    const double value = number(row, column);
    if (value == 0) fail(row, std::string(name) + ": got 0, expected more");
    return value;
  }
  [[noreturn]] void fail(const csv_row& row, const std::string& what) const {
    throw input_error(table_.place(row) + ": " + what);
  }

  static constexpr double most_watts = 1e6;
  const unsigned sms_;
  const csv_table table_;
  std::vector<std::size_t> columns_;  // of the events
  std::set<std::string> names_;
  bool timed_ = false, clocked_ = false;  // has a column seconds, clock_mhz
  power_measurements all_;
};

}  // namespace

power_measurements read_measurements(const std::string& file, unsigned sm_count) {
  return reader(file, sm_count).read();
}

}  // namespace heddle::testbench

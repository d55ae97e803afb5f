// SPDX-License-Identifier: MIT
// Values and units as profilers write them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/correlate/metric_names.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

/// The factor from a unit to that of the dimension; 0: it is none of this dimension.
double factor_of(metric_unit dimension, const std::string& text) {
  static const std::map<metric_unit, std::map<std::string, double>> factors = {
      {metric_unit::count, {}},  // whatever is counted
      {metric_unit::share, {{"", 1}, {"%", 0.01}, {"ratio", 1}}},
      {metric_unit::bytes,
       {{"byte", 1},
        {"bytes", 1},
        {"B", 1},
        {"Kbyte", 1e3},
        {"KB", 1e3},
        {"kB", 1e3},
        {"KiB", 1024},
        {"Mbyte", 1e6},
        {"MB", 1e6},
        {"MiB", 1048576},
        {"Gbyte", 1e9},
        {"GB", 1e9},
        {"GiB", 1073741824},
        {"", 1}}},
      {metric_unit::seconds,
       {{"nsecond", 1e-9},
        {"ns", 1e-9},
        {"usecond", 1e-6},
        {"us", 1e-6},
        {"msecond", 1e-3},
        {"ms", 1e-3},
        {"second", 1},
        {"s", 1}}},
      {metric_unit::bytes_per_second,
       {{"byte/second", 1}, {"B/s", 1}, {"Gbyte/second", 1e9}, {"GB/s", 1e9}, {"MB/s", 1e6}}},
      {metric_unit::watts, {{"", 1}, {"W", 1}, {"mW", 1e-3}}}};
  static const std::vector<std::string> counted = {"",
                                                   "cycle",
                                                   "cycles",
                                                   "inst",
                                                   "instruction",
                                                   "warp",
                                                   "warps",
                                                   "sector",
                                                   "transaction",
                                                   "bytes",
                                                   "request",
                                                   "ratio",
                                                   "register/thread",
                                                   "inst/cycle",
                                                   "inst/warp",
                                                   "bytes/cycle/SM",
                                                   "thread"};
  if (dimension == metric_unit::count) return std::find(counted.begin(), counted.end(), text) != counted.end() ? 1 : 0;
  const auto& known = factors.at(dimension);
  const auto found = known.find(text);
  return found == known.end() ? 0 : found->second;
}

}  // namespace

bool has_unit(const metric_name& metric, const std::string& unit) { return factor_of(metric.unit, unit) != 0; }

std::optional<double> read_value(const metric_name& metric, const std::string& text, const std::string& unit) {
  std::string digits, own;
  for (const char c : text)
    if (c != ',' && c != ' ' && c != '"') digits += c;
  if (digits.empty() || digits == "n/a" || digits == "nan" || digits == "N/A" || digits == "-") return std::nullopt;
  const auto end = digits.find_last_of("0123456789.");
  if (end != std::string::npos && end + 1 < digits.size()) {
    own = digits.substr(end + 1);
    digits.resize(end + 1);
  }
  const auto refuse = [&](const std::string& expected) {
    throw input_error("got '" + printable(text) + "', expected " + expected);
  };
  double value = 0;
  const double factor = factor_of(metric.unit, own.empty() ? unit : own);
  const bool decimal = digits.find_first_of("xX") == std::string::npos;
  if (!decimal || !parse_float(digits, value) || !std::isfinite(value)) refuse("a number");
  if (factor == 0) refuse("a unit that fits it");
  if (value < 0) refuse("a number of 0 or more");
  if (value == 0 && metric.is_time()) refuse("a number above 0");
  return value * factor;
}

std::string value_text(const metric_name& metric, double value) {
  const auto number = [](double v) {
    const double size = std::fabs(v);
    if (size >= 1000) return (v < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(std::llround(size)));
    return fmt::format("{:.4g}", v);
  };
  switch (metric.unit) {
    case metric_unit::share: return fmt::format("{:.1f} %", 100 * value);
    case metric_unit::seconds: return number(value * 1e6) + " us";
    case metric_unit::bytes_per_second: return number(value * 1e-9) + " GB/s";
    case metric_unit::watts: return number(value) + " W";
    case metric_unit::bytes:
      return value < 1e5   ? number(value) + " B"
             : value < 1e8 ? number(value * 1e-3) + " kB"
                           : number(value * 1e-6) + " MB";
    case metric_unit::count: break;
  }
  return number(value);
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#include "testbench/correlate/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "testbench/options/options.h"

namespace heddle::testbench {

namespace {

constexpr double departure = 0.05;

/// The simulated launches that a selection may mean, in the order of their launch.
std::vector<const nlohmann::json*> launches_of(const nlohmann::json& kernels, const launch_selection& s) {
  std::vector<const nlohmann::json*> fit, all;
  for (const nlohmann::json& k : kernels) {
    all.push_back(&k);
    const std::vector<std::string> names = names_of_kernel(k.value("name", ""));
    if (s.kernel.empty() || std::find(names.begin(), names.end(), s.kernel) != names.end()) fit.push_back(&k);
  }
  // A run of one launch is meant to be this one, whatever its kernel is called.
  return fit.empty() && all.size() == 1 ? all : fit;
}

std::string shape_of(const nlohmann::json& dimensions) {
  std::string text;
  for (const nlohmann::json& d : dimensions) text += (text.empty() ? "" : "x") + std::to_string(d.get<std::uint64_t>());
  return text;
}

/// The time of the launch on the chip, in cycles of Heddle's clock, without its launch cost; 0: unknown.
double cycles_of(const measured_launch& m, const compared_value& v, const simulated_launch& l) {
  const std::string name = v.metric->name;
  const double rate = v.hardware, sms = l.parameter("gpu.sm_count");
  if (name == "cycles") return v.hardware;
  if (name == "duration") return v.hardware * l.hertz();
  if (name == "bytes_per_second" && rate > 0) return m.bytes / rate * l.hertz();
  if (name == "bytes_per_cycle_per_sm" && rate > 0 && sms > 0) return m.bytes / rate / sms;
  return 0;
}

// Takes the launch cost, in core cycles, off what the profiler measured.
double without_launch(double launch_cycles, const metric_name& metric, double value, const simulated_launch& l) {
  if (metric.stage != metric_stage::time) return value;
  return std::max(0.0, value - (metric.unit == metric_unit::seconds ? launch_cycles / l.hertz() : launch_cycles));
}

// A meter's mean power of launches in a row is also that of the time between them, in which the chip is idle.
double with_idle_time(double launch_cycles, const metric_name& metric, double value, const simulated_launch& l) {
  if (metric.unit != metric_unit::watts) return value;
  const double seconds = l.number("energy.seconds"), between = launch_cycles / l.hertz();
  const double idle =
      l.parameter("energy.constant_watts") + l.parameter("energy.idle_sm_watts") * l.parameter("gpu.sm_count");
  return seconds > 0 ? (value * seconds + idle * between) / (seconds + between) : value;
}

void choose_headline(compared_launch& c, const simulated_launch& l) {
  // Of a launch whose power alone was measured, the power takes the place of the time.
  for (const char* name : {"cycles", "duration", "bytes_per_second", "bytes_per_cycle_per_sm", "mean_watts"}) {
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      if (std::string(c.values[i].metric->name) != name) continue;
      c.headline = i;
      c.hardware_cycles = cycles_of(*c.measured, c.values[i], l);
      c.heddle_cycles = l.number("cycles");
      if (c.values[i].metric->unit == metric_unit::watts) {
        c.hardware_cycles = c.values[i].hardware;
        c.heddle_cycles = c.values[i].heddle;
      }
      return;
    }
  }
}

}  // namespace

double compared_value::error() const {
  if (metric->is_share()) return heddle - hardware;
  if (hardware == 0) return heddle == 0 ? 0 : std::numeric_limits<double>::infinity();
  return heddle / hardware - 1;
}

bool compared_value::departs() const {
  // Registers are allocated in eights: fewer than that make no difference.
  if (std::string(metric->name) == "registers_per_thread") return std::ceil(heddle / 8) != std::ceil(hardware / 8);
  return std::fabs(error()) > departure;
}

std::string compared_value::error_text() const {
  if (std::isinf(error())) return "from 0";
  return fmt::format(metric->is_share() ? "{:+.1f} points" : "{:+.1f} %", 100 * error());
}

const compared_value* compared_launch::first_departure() const {
  const compared_value* first = nullptr;
  for (const compared_value& v : values) {
    if (!v.departs()) continue;
    const bool earlier = first == nullptr || v.metric->stage < first->metric->stage;
    const bool larger =
        first != nullptr && v.metric->stage == first->metric->stage && std::fabs(v.error()) > std::fabs(first->error());
    if (earlier || larger) first = &v;
  }
  return first;
}

std::size_t chip_comparison::counted() const {
  return static_cast<std::size_t>(
      std::count_if(launches.begin(), launches.end(), [](const compared_launch& c) { return c.counts(); }));
}

double chip_comparison::mean_error() const {
  double sum = 0;
  for (const compared_launch& c : launches)
    if (c.counts()) sum += std::fabs(c.time_error());
  return counted() ? sum / static_cast<double>(counted()) : 0;
}

double chip_comparison::bias() const {
  double sum = 0;
  for (const compared_launch& c : launches)
    if (c.counts()) sum += c.time_error();
  return counted() ? sum / static_cast<double>(counted()) : 0;
}

double chip_comparison::log_correlation() const {
  const auto n = static_cast<double>(counted());
  if (n < 3) return 0;
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const compared_launch& c : launches) {
    if (!c.counts()) continue;
    const double a = std::log(c.hardware_cycles), b = std::log(c.heddle_cycles);
    x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  const double spread = (xx - x * x / n) * (yy - y * y / n);
  return spread > 0 ? (xy - x * y / n) / std::sqrt(spread) : 0;
}

std::vector<const compared_launch*> chip_comparison::worst(std::size_t most) const {
  std::vector<const compared_launch*> list;
  for (const compared_launch& c : launches)
    if (c.counts() && std::fabs(c.time_error()) > departure) list.push_back(&c);
  std::stable_sort(list.begin(), list.end(), [](const compared_launch* a, const compared_launch* b) {
    return std::fabs(a->time_error()) > std::fabs(b->time_error());
  });
  list.resize(std::min(list.size(), most));
  return list;
}

std::vector<metric_summary> metrics_of(const chip_comparison& chip) {
  std::vector<metric_summary> list;
  for (const metric_name& m : metric_names()) {
    metric_summary s{&m, 0, 0, 0};
    for (const compared_launch& c : chip.launches) {
      if (!c.failure.empty() || !c.measured->identifies.empty()) continue;
      for (const compared_value& v : c.values) {
        if (v.metric != &m || std::isinf(v.error())) continue;
        ++s.launches;
        s.mean_error += std::fabs(v.error());
        s.bias += v.error();
      }
    }
    if (s.launches == 0) continue;
    s.mean_error /= static_cast<double>(s.launches);
    s.bias /= static_cast<double>(s.launches);
    list.push_back(s);
  }
  return list;
}

compared_launch compare(const measured_launch& m, const point_result& result) {
  compared_launch c;
  c.measured = &m;
  if (result.status != point_status::done) {
    c.failure = std::string(name_of(result.status)) + ": " + result.reason;
    return c;
  }
  const nlohmann::json metrics = nlohmann::json::parse(result.metrics);
  const nlohmann::json& config = metrics.at("gpu").at("config");
  const std::vector<const nlohmann::json*> fit = launches_of(metrics.at("kernels"), m.selection);
  const std::uint64_t number = m.selection.number;
  // One launch stands for all that the profiler has seen of its kernel.
  const std::size_t at = fit.size() == 1 ? 0 : static_cast<std::size_t>(number);
  if (at >= fit.size()) {
    c.failure = "the run has " + std::to_string(fit.size()) + " launches" +
                (m.selection.kernel.empty() ? "" : " of " + m.selection.kernel) + ", expected number " +
                std::to_string(number) + " (from 0 on)";
    return c;
  }
  const simulated_launch chosen{fit[at], &config, m.bytes};
  c.launch_cycles = m.launch_cycles.value_or(chosen.parameter("cwd.launch_overhead_cycles"));
  if (!m.grid.empty() && m.grid != shape_of(fit[at]->at("grid")))
    c.note = "measured with grid " + m.grid + ", simulated with " + shape_of(fit[at]->at("grid"));
  for (const measured_value& v : m.values) {
    double heddle = v.metric->value(chosen);
    if (m.selection.mean && fit.size() > 1) {
      heddle = 0;
      for (const nlohmann::json* k : fit)
        heddle += v.metric->value({k, &config, m.bytes}) / static_cast<double>(fit.size());
    }
    heddle = with_idle_time(c.launch_cycles, *v.metric, heddle, chosen);
    c.values.push_back({v.metric, without_launch(c.launch_cycles, *v.metric, v.value, chosen), heddle});
  }
  choose_headline(c, chosen);
  return c;
}

}  // namespace heddle::testbench

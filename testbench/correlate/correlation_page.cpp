// SPDX-License-Identifier: MIT
// The comparison as a page: Markdown, and the data of the page for a browser.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "testbench/correlate/correlation_text.h"
#include "testbench/report/report_page.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t worst_on_page = 8;

std::string cell(const std::string& text) { return markdown_cell(valid_utf8(text)); }
std::string percent(double error) { return fmt::format("{:+.1f} %", 100 * error); }

std::string use_text(const measured_launch& m) { return m.identifies.empty() ? "" : " (i)"; }

// Rows without a time have no place in the table of times; their metrics follow.
std::string times_table(const chip_comparison& chip) {
  std::string text = "| kernel | metric | hardware | Heddle | error |\n|---|---|---|---|---|\n";
  for (const compared_launch& l : chip.launches) {
    if (!l.failure.empty()) {
      text += "| " + cell(l.measured->kernel) + " | | | failed: " + cell(l.failure) + " | |\n";
    } else if (const compared_value* v = l.shown()) {
      text += "| " + cell(l.measured->kernel) + use_text(*l.measured) + " | " + v->metric->name + " | " +
              value_text(*v->metric, v->hardware) + " | " + value_text(*v->metric, v->heddle) + " | " +
              percent(l.time_error()) + " |\n";
    }
  }
  return text + "\n";
}

std::string metrics_table(const chip_comparison& chip) {
  const auto list = metrics_of(chip);
  if (list.empty()) return "";
  std::string text = "| metric | rows | mean error | bias |\n|---|---|---|---|\n";
  for (const metric_summary& s : list) {
    const char* of = s.metric->is_share() ? "points" : "%";
    text += fmt::format("| {} | {} | {:.1f} {} | {:+.1f} {} |\n", s.metric->name, s.launches, 100 * s.mean_error, of,
                        100 * s.bias, of);
  }
  return text + "\n";
}

// The errors of all metrics, of launches of which more than the time is known.
std::string errors_table(const chip_comparison& chip) {
  std::vector<const metric_name*> columns;
  for (const metric_name& m : metric_names()) {
    const auto has = [&m](const compared_launch& l) {
      return l.values.size() > 1 &&
             std::any_of(l.values.begin(), l.values.end(), [&m](const compared_value& v) { return v.metric == &m; });
    };
    if (std::any_of(chip.launches.begin(), chip.launches.end(), has)) columns.push_back(&m);
  }
  if (columns.empty()) return "";
  std::string text = "| errors |", line = "\n|---|";
  for (const metric_name* m : columns) text += std::string(" ") + m->name + " |", line += "---|";
  text += line + "\n";
  for (const compared_launch& l : chip.launches) {
    if (l.values.size() < 2) continue;
    text += "| " + cell(l.measured->kernel) + " |";
    for (const metric_name* m : columns) {
      const auto v =
          std::find_if(l.values.begin(), l.values.end(), [m](const compared_value& o) { return o.metric == m; });
      text += " " + (v == l.values.end() ? "" : v->error_text()) + " |";
    }
    text += "\n";
  }
  return text + "\n";
}

std::string worst_table(const chip_comparison& chip) {
  const auto list = chip.worst(worst_on_page);
  if (list.empty()) return "";
  std::string text = "| worst | error | departs first |\n|---|---|---|\n";
  for (const compared_launch* l : list)
    text +=
        "| " + cell(l->measured->kernel) + " | " + percent(l->time_error()) + " | " + cell(departure_text(*l)) + " |\n";
  return text + "\n";
}

// Rows of equal origin share a line.
std::string origins(const correlation& c) {
  std::vector<std::string> seen;
  for (const chip_comparison& chip : c.chips) {
    for (const compared_launch& l : chip.launches) {
      const measured_launch& m = *l.measured;
      const std::string line = "* " + m.origin + (m.licence.empty() ? "" : "; licence: " + m.licence);
      if (std::find(seen.begin(), seen.end(), line) == seen.end()) seen.push_back(line);
    }
  }
  return join(seen, "\n") + "\n";
}

std::string launch_costs(const correlation& c) {
  std::string text;
  for (const chip_comparison& chip : c.chips) {
    std::vector<std::string> costs;
    for (const compared_launch& l : chip.launches) {
      if (l.launch_cycles == 0) continue;
      const std::string cost = fmt::format("{:.0f} cycles ({})", l.launch_cycles, l.measured->origin);
      if (std::find(costs.begin(), costs.end(), cost) == costs.end()) costs.push_back(cost);
    }
    if (!costs.empty()) text += "* " + chip.gpu + ": " + join(costs, "; ") + "\n";
  }
  return text.empty() ? ""
                      : "## Launch cost\n\nWhat a profiler counts before a kernel's first block and after its last was "
                        "taken off the measured cycles:\n\n" +
                            text + "\n";
}

std::string names_table() {
  std::string text = "| Heddle | Nsight Compute | nvprof |\n|---|---|---|\n";
  for (const metric_name& m : metric_names())
    text += std::string("| ") + m.name + " | " + join(m.nsight, ", ") + " | " + join(m.nvprof, ", ") + " |\n";
  return text;
}

}  // namespace

std::string correlation_markdown(const correlation& c) {
  std::string text =
      "<!-- SPDX-License-Identifier: MIT -->\n# Heddle and hardware, launch by launch\n\nMade by Heddle " + c.version +
      " on " + c.date + " with\n\n    " + c.command + "\n\n";
  text +=
      "*error*: by how much longer (+) or shorter (-) Heddle takes. (i): a parameter was fitted to this row; it does "
      "not count. *departs first*: in the order from the program to the time, the first metric that is off by more than "
      "5 % or 5 points.\n\n";
  text += "| chip | rows compared | mean error | bias | correlation of logarithms |\n|---|---|---|---|---|\n";
  for (const chip_comparison& chip : c.chips)
    text += fmt::format("| {} | {} | {:.1f} % | {:+.1f} % | {} |\n", chip.gpu, chip.counted(), 100 * chip.mean_error(),
                        100 * chip.bias(), chip.counted() > 2 ? fmt::format("{:.4f}", chip.log_correlation()) : "");
  text += "\n";
  for (const chip_comparison& chip : c.chips)
    text += "## " + cell(chip.gpu) + "\n\n" + times_table(chip) + worst_table(chip) + errors_table(chip) +
            metrics_table(chip);
  if (c.left_out) text += fmt::format("{} rows labelled long were not run.\n\n", c.left_out);
  text += launch_costs(c) + "## Origins\n\n" + origins(c) + "\n## Names of metrics\n\n" + names_table();
  return text;
}

std::string correlation_json(const correlation& c) {
  json page = {{"schema", "heddle.report/1"}, {"version", c.version}, {"kind", "correlation"},
               {"name", join(c.files, ", ")}, {"date", c.date},       {"command", c.command}};
  const auto finite = [](double v) { return std::isfinite(v) ? json(v) : json(nullptr); };
  page["chips"] = json::array();
  for (const chip_comparison& chip : c.chips) {
    json rows = json::array();
    for (const compared_launch& l : chip.launches) {
      const measured_launch& m = *l.measured;
      json values = json::array();
      for (const compared_value& v : l.values)
        values.push_back({{"metric", v.metric->name},
                          {"share", v.metric->is_share()},
                          {"hardware", v.hardware},
                          {"heddle", v.heddle},
                          {"error", finite(v.error())},
                          {"hardware_text", value_text(*v.metric, v.hardware)},
                          {"heddle_text", value_text(*v.metric, v.heddle)},
                          {"error_text", v.error_text()}});
      const compared_value* shown = l.shown();
      rows.push_back({{"kernel", m.kernel},
                      {"where", m.where},
                      {"identifies", m.identifies},
                      {"origin", m.origin},
                      {"licence", m.licence},
                      {"launch_cycles", l.launch_cycles},
                      {"failure", l.failure},
                      {"note", l.note},
                      {"shown", shown ? json(l.headline) : json(nullptr)},
                      {"hardware_cycles", l.has_time() ? json(l.hardware_cycles) : json(nullptr)},
                      {"heddle_cycles", l.has_time() ? json(l.heddle_cycles) : json(nullptr)},
                      {"error", l.has_time() ? json(l.time_error()) : json(nullptr)},
                      {"departs", departure_text(l)},
                      {"values", std::move(values)}});
    }
    page["chips"].push_back({{"gpu", chip.gpu},
                             {"counted", chip.counted()},
                             {"mean_error", chip.mean_error()},
                             {"bias", chip.bias()},
                             {"correlation", chip.log_correlation()},
                             {"rows", std::move(rows)}});
  }
  page["ignored"] = c.ignored;
  page["left_out"] = c.left_out;
  page["names"] = json::array();
  for (const metric_name& m : metric_names())
    page["names"].push_back({{"name", m.name}, {"nsight", m.nsight}, {"nvprof", m.nvprof}});
  return page.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace heddle::testbench

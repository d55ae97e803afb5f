// SPDX-License-Identifier: MIT
#include "testbench/correlate/correlation_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "heddle/config/message.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::size_t worst_in_text = 5;

std::string clipped(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string time_error_text(const compared_launch& c) { return fmt::format("{:+.1f} %", 100 * c.time_error()); }

std::string row_text(const compared_launch& c) {
  const measured_launch& m = *c.measured;
  if (!c.failure.empty()) return fmt::format("  {:<34} failed: {}\n", clipped(m.kernel, 34), clipped(c.failure, 200));
  const compared_value* v = c.shown();
  std::string line = fmt::format("  {:<34} ", clipped(m.kernel, 34));
  if (v == nullptr) {
    line += "no time was measured";
  } else {
    line += fmt::format("{:<22} {:>12} {:>12} {:>9}", v->metric->name, value_text(*v->metric, v->hardware),
                        value_text(*v->metric, v->heddle), time_error_text(c));
  }
  if (!m.identifies.empty()) line += "  identifies " + m.identifies;
  if (!c.note.empty()) line += "  (" + c.note + ")";
  return line + "\n";
}

std::string worst_text(const chip_comparison& chip) {
  std::string text;
  for (const compared_launch* c : chip.worst(worst_in_text))
    text +=
        fmt::format("  {:<34} {:>9}  {}\n", clipped(c->measured->kernel, 34), time_error_text(*c), departure_text(*c));
  return text.empty() ? "" : "  Worst, and what departs first:\n" + text;
}

std::string metric_lines(const chip_comparison& chip) {
  std::string text;
  for (const metric_summary& s : metrics_of(chip)) {
    const char* of = s.metric->is_share() ? "points" : "%";
    text += fmt::format("  {:<34} mean error {:>7.1f} {}, bias {:+.1f} {}, {} rows\n", s.metric->name,
                        100 * s.mean_error, of, 100 * s.bias, of, s.launches);
  }
  return text;
}

}  // namespace

std::string departure_text(const compared_launch& c) {
  const compared_value* v = c.first_departure();
  if (v == nullptr) return "";
  std::string text = fmt::format("{} {} ({} on the chip)", v->metric->name, value_text(*v->metric, v->heddle),
                                 value_text(*v->metric, v->hardware));
  if (v->metric->is_time() && c.values.size() == 1) text += ", the only value known";
  return text;
}

std::string figures_text(const chip_comparison& chip) {
  std::string text = fmt::format("mean error {:.1f} %, bias {:+.1f} %", 100 * chip.mean_error(), 100 * chip.bias());
  if (chip.counted() > 2) text += fmt::format(", correlation of logarithms {:.4f}", chip.log_correlation());
  return text + fmt::format(", {} compared {}", chip.counted(), chip.counted() == 1 ? "row" : "rows");
}

std::string correlation_text(const correlation& c, const text_style& style) {
  std::string text;
  for (const chip_comparison& chip : c.chips) {
    text += (text.empty() ? "" : "\n") + style.bold(chip.gpu) + "\n";
    text += fmt::format("  {:<34} {:<22} {:>12} {:>12} {:>9}\n", "kernel", "metric", "hardware", "Heddle", "error");
    for (const compared_launch& l : chip.launches) text += row_text(l);
    if (chip.counted() != 0) text += "  " + style.bold(figures_text(chip)) + "\n";
    text += metric_lines(chip) + worst_text(chip);
  }
  if (c.left_out)
    text += grouped(c.left_out) + (c.left_out == 1 ? " row is" : " rows are") + " labelled long: --long runs them\n";
  if (!c.ignored.empty()) {
    text += fmt::format("{} {} no counterpart in Heddle: {}\n", c.ignored.size(),
                        c.ignored.size() == 1 ? "name has" : "names have", clipped(join(c.ignored, ", "), 400));
  }
  return text;
}

std::string correlation_csv(const correlation& c) {
  std::string text = "where,gpu,kernel,metric,hardware,heddle,error_pct,use,origin,licence,failure\n";
  for (const chip_comparison& chip : c.chips) {
    for (const compared_launch& l : chip.launches) {
      const measured_launch& m = *l.measured;
      const std::string begin = csv_field(m.where) + "," + csv_field(m.gpu) + "," + csv_field(m.kernel) + ",";
      const std::string end = "," + csv_field(m.identifies.empty() ? "compared" : "identifies " + m.identifies) + "," +
                              csv_field(m.origin) + "," + csv_field(m.licence) + "," + csv_field(one_line(l.failure)) +
                              "\n";
      if (!l.failure.empty()) text += begin + ",,," + end;
      for (const compared_value& v : l.values)
        text += begin + fmt::format("{},{},{},{}", v.metric->name, v.hardware, v.heddle, 100 * v.error()) + end;
    }
  }
  return text;
}

}  // namespace heddle::testbench

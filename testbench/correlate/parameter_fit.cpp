// SPDX-License-Identifier: MIT
#include "testbench/correlate/parameter_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <variant>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/parameter_table.h"
#include "heddle/config/suggestion.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr double within = 0.01;  // of the least error: what the error bars mean
constexpr int refinements = 3;

bool identifies(const measured_launch& m, const std::string& key) {
  const std::vector<std::string> keys = split(m.identifies, ' ');
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

double value_of(const std::string& gpu, const std::vector<std::string>& overrides, const std::string& key) {
  gpu_config config = load_config(gpu, overrides);
  double value = 0;
  parse_float(text_of(*find_parameter(key), config), value);
  return value;
}

bool is_whole(const std::string& key) {
  gpu_config config;
  return std::holds_alternative<unsigned*>(find_parameter(key)->in(config));
}

std::string text_of_value(double value) { return fmt::format("{:.6g}", value); }

// Legal values only; whole ones where the parameter is whole.
std::vector<double> legal(const std::string& key, const std::vector<double>& values) {
  std::set<double> kept;
  for (double v : values) {
    if (is_whole(key)) v = std::round(v);
    parse_float(text_of_value(v), v);
    if (find_parameter(key)->range.holds(v)) kept.insert(v);
  }
  return {kept.begin(), kept.end()};
}

std::string error_bars(const fitted_parameter& f) {
  return (f.low_open ? "<= " : "") + fmt::format("{:.5g}", f.low) + " to " + (f.high_open ? ">= " : "") +
         fmt::format("{:.5g}", f.high);
}

double error_of(const std::vector<compared_launch>& launches) {
  double sum = 0;
  for (const compared_launch& l : launches) {
    if (!l.has_time()) return std::numeric_limits<double>::infinity();
    const double log = std::log(l.heddle_cycles / l.hardware_cycles);
    sum += log * log;
  }
  return std::sqrt(sum / static_cast<double>(launches.size()));
}

}  // namespace

parameter_fit::parameter_fit(const std::vector<measured_launch>& launches, std::vector<std::string> keys,
                             std::vector<std::string> overrides, runner run)
    : keys_(std::move(keys)), overrides_(std::move(overrides)), run_(std::move(run)) {
  std::set<std::string> known;
  for (const measured_launch& m : launches)
    for (const std::string& key : split(m.identifies, ' '))
      if (!key.empty()) known.insert(key);
  const std::vector<std::string> names(known.begin(), known.end());
  if (keys_ == std::vector<std::string>{"all"}) {
    if (names.empty()) throw input_error("--fit all: no row identifies a parameter");
    keys_.clear();
    for (const parameter& p : parameters())
      if (known.count(p.name()) != 0) keys_.push_back(p.name());
  }
  for (const std::string& key : keys_) {
    const parameter* p = find_parameter(key);
    if (p == nullptr) throw input_error("--fit: unknown parameter '" + printable(key) + "'" + suggestion(key, names));
    if (!p->is_number()) throw input_error("--fit: '" + key + "' is no number");
    if (known.count(key) == 0)
      throw input_error("--fit: no row identifies '" + key + "'; rows identify " +
                        (names.empty() ? "nothing" : join(names, ", ")));
  }
  for (const measured_launch& m : launches)
    if (std::any_of(keys_.begin(), keys_.end(), [&](const std::string& key) { return identifies(m, key); }))
      rows_.push_back(m);
}

std::vector<fitted_parameter> parameter_fit::search() {
  std::vector<fitted_parameter> all;
  std::set<std::string> chips;
  for (const measured_launch& m : rows_) {
    if (!chips.insert(m.gpu).second) continue;
    for (fitted_parameter& f : search_chip(m.gpu)) all.push_back(std::move(f));
  }
  return all;
}

bool parameter_fit::better(const tried& a, const tried& b) {
  return a.error != b.error ? a.error < b.error : text_of_value(a.value).size() < text_of_value(b.value).size();
}

void parameter_fit::attempt(const std::vector<measured_launch>& rows, const std::vector<fitted_parameter>& all,
                            std::size_t key, const std::vector<double>& values, std::vector<tried>& known) {
  std::vector<double> fresh;
  for (const double v : values)
    if (std::none_of(known.begin(), known.end(), [v](const tried& t) { return t.value == v; })) fresh.push_back(v);
  if (fresh.empty()) return;
  std::vector<measured_launch> launches;
  for (const double v : fresh) {
    for (measured_launch m : rows) {
      std::string settings;
      for (std::size_t k = 0; k < all.size(); ++k)
        settings += "--set " + all[k].key + "=" + text_of_value(k == key ? v : all[k].best) + " ";
      m.run = settings + m.run;
      launches.push_back(std::move(m));
    }
  }
  const std::vector<compared_launch> compared = run_(launches);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const auto begin = compared.begin() + static_cast<std::ptrdiff_t>(i * rows.size());
    known.push_back({fresh[i], error_of({begin, begin + static_cast<std::ptrdiff_t>(rows.size())})});
  }
  std::sort(known.begin(), known.end(), [](const tried& a, const tried& b) { return a.value < b.value; });
}

// Values between the best one and those beside it.
std::vector<double> parameter_fit::neighbours(const std::string& key, const std::vector<tried>& known,
                                              double best) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].value != best) continue;
    const double low = i > 0 ? known[i - 1].value : best / 2,
                 high = i + 1 < known.size() ? known[i + 1].value : best * 2;
    values = {low + (best - low) / 3, low + 2 * (best - low) / 3, best + (high - best) / 3,
              best + 2 * (high - best) / 3};
  }
  return legal(key, values);
}

std::vector<fitted_parameter> parameter_fit::search_chip(const std::string& gpu) {
  std::vector<fitted_parameter> all;
  std::vector<std::vector<measured_launch>> rows_of;  // those that identify each parameter
  for (const std::string& key : keys_) {
    std::vector<measured_launch> rows;
    std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(rows),
                 [&](const measured_launch& m) { return m.gpu == gpu && identifies(m, key); });
    if (rows.empty()) continue;
    fitted_parameter f;
    f.gpu = gpu;
    f.key = key;
    f.rows = rows.size();
    for (const measured_launch& m : rows) f.kernels += (f.kernels.empty() ? "" : ", ") + m.kernel;
    f.before = f.best = value_of(gpu, overrides_, key);
    all.push_back(std::move(f));
    rows_of.push_back(std::move(rows));
  }
  // One parameter after another; where several depend on each other, a second time.
  for (int round = 0; round < (all.size() > 1 ? 2 : 1); ++round) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      fitted_parameter& f = all[k];
      std::vector<tried> known;
      const double from = f.best == 0 ? 1 : f.best;
      std::vector<double> values = {f.best};
      for (const double factor : {0.5, 0.7, 0.85, 1.2, 1.4, 2.0}) values.push_back(from * factor);
      for (int i = 0; i <= refinements; ++i) {
        attempt(rows_of[k], all, k, legal(f.key, values), known);
        const auto least = std::min_element(known.begin(), known.end(), better);
        if (round == 0 && i == 0)
          for (const tried& t : known)
            if (t.value == f.before) f.error_before = t.error;
        f.error = least->error;
        values = neighbours(f.key, known, least->value);
        if (i < refinements) continue;
        f.best = least->value;
        // The error bars: where the error passes the limit, between values that were tried.
        const double limit = f.error + within;
        const auto crossing = [&](const tried& good, const tried& bad) {
          return good.value + (bad.value - good.value) *
                                  (std::isinf(bad.error) ? 0 : (limit - good.error) / (bad.error - good.error));
        };
        auto low = least, high = least;
        while (low != known.begin() && (low - 1)->error <= limit) --low;
        while (high + 1 != known.end() && (high + 1)->error <= limit) ++high;
        f.low_open = low == known.begin();
        f.high_open = high + 1 == known.end();
        f.low = f.low_open ? low->value : crossing(*low, *(low - 1));
        f.high = f.high_open ? high->value : crossing(*high, *(high + 1));
      }
    }
  }
  return all;
}

std::string fit_text(const std::vector<fitted_parameter>& fitted) {
  std::string text = fmt::format("{:<10} {:<34} {:>10} {:>10}   {:<26} {:>8} {:>8} {:>5}\n", "chip", "parameter", "now",
                                 "best", "within one point", "error", "then", "rows");
  for (const fitted_parameter& f : fitted) {
    text += fmt::format("{:<10} {:<34} {:>10.5g} {:>10.5g}   {:<26} {:>6.1f} % {:>6.1f} % {:>5}\n", f.gpu, f.key,
                        f.before, f.best, error_bars(f), 100 * f.error_before, 100 * f.error, f.rows);
  }
  return text;
}

std::string fit_ini(const std::vector<fitted_parameter>& fitted, const std::string& name) {
  const std::string& gpu = fitted.front().gpu;
  const bool is_file = gpu.find('/') != std::string::npos || ends(gpu, ".ini");
  std::string text = fmt::format("; Made by heddle correlate --fit.\nbase = {}\n\n[gpu]\nname = {}\n",
                                 is_file ? std::filesystem::absolute(gpu).string() : gpu, name);
  std::string section;
  for (const parameter& p : parameters()) {
    const auto f =
        std::find_if(fitted.begin(), fitted.end(), [&](const fitted_parameter& each) { return each.key == p.name(); });
    if (f == fitted.end()) continue;
    if (p.section != section) text += fmt::format("\n[{}]\n", p.section);
    section = p.section;
    text +=
        fmt::format("{:<40}  ; fitted to {}: {}\n", p.key + " = " + text_of_value(f->best), f->kernels, error_bars(*f));
  }
  return text;
}

}  // namespace heddle::testbench

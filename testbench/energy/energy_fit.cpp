// SPDX-License-Identifier: MIT
#include "testbench/energy/energy_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/message.h"
#include "heddle/config/parameter_table.h"
#include "heddle/config/suggestion.h"
#include "testbench/energy/nonnegative_fit.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr double pj_per_joule = 1e12;

bool is_power(const std::string& key) { return ends(key, "_watts"); }

std::vector<std::string> known_keys(const power_measurements& m) {
  std::vector<std::string> keys = {"constant_watts", "active_sm_watts", "idle_sm_watts"};
  for (const std::string& event : m.events) keys.push_back(event + "_pj");
  return keys;
}

bool is_figure(const parameter& p) {
  return p.section == "energy" && p.key != "power_cap_watts" &&
         (p.unit == parameter_unit::pj || p.unit == parameter_unit::watts);
}

/// All figures of [energy], measured or not.
std::vector<std::string> all_figures() {
  std::vector<std::string> keys;
  for (const parameter& p : parameters())
    if (is_figure(p)) keys.push_back(p.key);
  return keys;
}

bool are_measured(const std::string& key, const power_measurements& m) {
  const std::vector<std::string> keys = known_keys(m);
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// What a parameter's value is multiplied with to give watts: 1, SMs, or events a second for pJ; 0 if the table has no
/// column for them.
double factor(const std::string& key, const measured_kernel& k, const power_measurements& m, unsigned sm_count) {
  if (key == "constant_watts") return 1;
  if (key == "active_sm_watts") return k.active_sms;
  if (key == "idle_sm_watts") return sm_count - k.active_sms;
  const auto at = std::find(m.events.begin(), m.events.end(), key.substr(0, key.size() - 3));
  if (at == m.events.end()) return 0;
  return k.events[static_cast<std::size_t>(at - m.events.begin())] / k.seconds / pj_per_joule;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Throws input_error for a figure that a configuration could not have.
void check_range(const std::string& where, const std::string& key, double value) {
  const numeric_range& range = find_parameter("energy." + key)->range;
  if (!range.holds(value))
    throw input_error(where + ": " + key + " = " + fmt::format("{:.4g}", value) + ": expected " + range.text());
}

bool holds(const std::vector<fit_term>& terms, const fit_term& term) {
  return std::find(terms.begin(), terms.end(), term) != terms.end();
}

/// A number that reads well and is exact to four digits.
std::string rounded(double value) { return fmt::format("{:.4g}", value); }

}  // namespace

std::vector<fit_term> fit_terms(const std::string& text, const power_measurements& m) {
  const std::vector<std::string> known = known_keys(m);
  std::vector<fit_term> terms;
  if (text.empty()) {
    for (const std::string& key : known)
      if (key != "idle_sm_watts") terms.push_back({key});
    return terms;
  }
  std::set<std::string> seen;
  for (const std::string& term : split(text, ',')) {
    fit_term keys = split(term, '+');
    for (const std::string& key : keys) {
      if (std::find(known.begin(), known.end(), key) == known.end())
        throw input_error("--terms: the measurements do not determine '" + printable(key) + "', expected one of " +
                          join(known, ", ") + suggestion(key, known));
      if (!seen.insert(key).second) throw input_error("--terms: '" + key + "' occurs twice");
      if (is_power(key) != is_power(keys[0]))
        throw input_error("--terms: '" + printable(term) + "': expected either powers or energies");
    }
    terms.push_back(std::move(keys));
  }
  return terms;
}

std::vector<given_figure> given_figures(const std::string& text, const std::vector<fit_term>& terms) {
  const std::vector<std::string> known = all_figures();
  std::set<std::string> seen;
  for (const fit_term& term : terms) seen.insert(term.begin(), term.end());
  std::vector<given_figure> all;
  for (const std::string& part : split(text, ',')) {
    const std::size_t sign = part.find('=');
    given_figure g{part.substr(0, sign)};
    if (std::find(known.begin(), known.end(), g.key) == known.end())
      throw input_error("--given: '" + printable(g.key) + "': expected an energy or a power of [energy]" +
                        suggestion(g.key, known));
    const std::string value = sign == std::string::npos ? "" : part.substr(sign + 1);
    const bool hexadecimal = value.find_first_of("xX") != std::string::npos;
    if (hexadecimal || !parse_float(value, g.value) || !(g.value >= 0 && std::isfinite(g.value)))
      throw input_error("--given: '" + printable(part) + "': expected KEY=VALUE with a number of 0 or more");
    if (!seen.insert(g.key).second) throw input_error("--given: '" + g.key + "' is fitted or given twice");
    check_range("--given", g.key, g.value);
    all.push_back(g);
  }
  return all;
}

double energy_fit::fitted_mean() const {
  double sum = 0;
  for (const fitted_kernel& k : kernels) sum += std::abs(k.fitted_error());
  return sum / static_cast<double>(kernels.size());
}

double energy_fit::left_out_mean() const {
  double sum = 0;
  for (const fitted_kernel& k : kernels) sum += std::abs(k.left_out_error());
  return sum / static_cast<double>(kernels.size());
}

energy_fit fit_energies(const power_measurements& m, const std::vector<fit_term>& terms,
                        const std::vector<given_figure>& given, unsigned sm_count) {
  if (m.kernels.size() <= terms.size())
    throw input_error(printable(m.file) + ": got " + std::to_string(m.kernels.size()) +
                      " kernels, expected more than " + std::to_string(terms.size()) +
                      ", the figures to be fitted (see --terms)");
  // Each row is divided by the measured power: the errors are relative.
  std::vector<std::vector<double>> rows;
  std::vector<double> rest;  // shares of the powers that are to be fitted
  for (const measured_kernel& k : m.kernels) {
    double known = 0;
    for (const given_figure& g : given) known += g.value * factor(g.key, k, m, sm_count);
    rest.push_back(1 - known / k.watts);
    std::vector<double>& row = rows.emplace_back();
    for (const fit_term& term : terms) {
      double sum = 0;
      for (const std::string& key : term) sum += factor(key, k, m, sm_count);
      row.push_back(sum / k.watts);
      if (!std::isfinite(row.back()) || row.back() > 1e100)
        throw input_error(printable(m.file) + ": kernel '" + printable(k.name) + "': " + term.front() +
                          ": the rate is too large, expected events, seconds and watts of a run");
    }
  }
  energy_fit fit;
  fit.terms = terms;
  fit.given = given;
  fit.values = nonnegative_fit(rows, rest);
  for (const std::size_t t : dependent_unknowns(rows)) fit.arbitrary.push_back(terms[t]);
  for (std::size_t t = 0; t < terms.size(); ++t)
    if (std::all_of(rows.begin(), rows.end(), [t](const std::vector<double>& row) { return row[t] == 0; }))
      fit.absent.push_back(terms[t]);
  for (std::size_t t = 0; t < terms.size(); ++t)
    check_range(printable(m.file) + ": the fit gives", terms[t].front(), fit.values[t]);
  const std::vector<std::vector<double>> left_out = left_out_fits(rows, rest);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double watts = m.kernels[i].watts, known = 1 - rest[i];
    fit.kernels.push_back({m.kernels[i].name, watts, (product(rows[i], fit.values) + known) * watts,
                           (product(rows[i], left_out[i]) + known) * watts});
  }
  return fit;
}

std::vector<std::string> fit_warnings(const energy_fit& fit, const power_measurements& m) {
  const auto names = [](const std::vector<fit_term>& terms) {
    std::vector<std::string> all;
    for (const fit_term& term : terms) all.push_back(join(term, "+"));
    return join(all, ", ");
  };
  std::vector<std::string> all;
  if (!fit.arbitrary.empty())
    all.push_back(printable(m.file) + ": these kernels do not tell apart " + names(fit.arbitrary) +
                  ", whose figures are arbitrary: join them by + or leave one out (--terms), or give one (--given)");
  if (!fit.absent.empty()) all.push_back(printable(m.file) + ": no kernel has events of " + names(fit.absent));
  if (m.clock_mhz == 0)
    all.push_back(printable(m.file) +
                  ": no column clock_mhz: the figures are written as measured at the base's reference_clock_mhz");
  return all;
}

std::string fit_table(const energy_fit& fit) {
  std::string text = "| kernel | measured W | fitted W | error | left out W | error |\n|---|---|---|---|---|---|\n";
  for (const fitted_kernel& k : fit.kernels)
    text += fmt::format("| {} | {:.1f} | {:.1f} | {:+.1f} % | {:.1f} | {:+.1f} % |\n", markdown_cell(k.name),
                        k.measured_watts, k.fitted_watts, 100 * k.fitted_error(), k.left_out_watts,
                        100 * k.left_out_error());
  text += fmt::format("| mean of {}, absolute | | | {:.1f} % | | {:.1f} % |\n", fit.kernels.size(),
                      100 * fit.fitted_mean(), 100 * fit.left_out_mean());
  return text;
}

std::string fit_section(const energy_fit& fit, const power_measurements& m, const std::string& base,
                        double leakage_share) {
  std::string text = fmt::format(
      "; heddle energy-fit: {} kernels of {}; mean error {:.1f} %, of kernels left out {:.1f} %.\n"
      "; What was neither fitted nor given is 0: its energy is in the figures that were.\n"
      "base = {}\n\n[energy]\naccount = true\n",
      fit.kernels.size(), printable(m.file), 100 * fit.fitted_mean(), 100 * fit.left_out_mean(), base);
  for (const parameter& p : parameters()) {
    if (!is_figure(p)) continue;
    std::string value = "0", source = "not fitted";
    for (std::size_t t = 0; t < fit.terms.size(); ++t)
      if (std::find(fit.terms[t].begin(), fit.terms[t].end(), p.key) != fit.terms[t].end()) {
        value = rounded(fit.values[t]);
        source = fit.terms[t].size() == 1 ? "fitted" : "fitted as " + join(fit.terms[t], " + ");
        if (holds(fit.arbitrary, fit.terms[t])) source += "; arbitrary: not told apart from others";
        if (holds(fit.absent, fit.terms[t])) source = "no events";
      }
    for (const given_figure& g : fit.given)
      if (g.key == p.key) {
        value = rounded(g.value);
        source = are_measured(g.key, m) ? "given" : "given; the measurements have no events of it";
      }
    text += fmt::format("{:<40}; {}\n", p.key + " = " + value, source);
    if (p.key == "idle_sm_watts")
      text += fmt::format("{:<40}; of the base: measurements at one clock do not tell\n",
                          "leakage_share = " + rounded(leakage_share));
  }
  if (m.clock_mhz > 0)
    text += fmt::format("{:<40}; of the measurements\n", fmt::format("reference_clock_mhz = {}", m.clock_mhz));
  return text;
}

}  // namespace heddle::testbench

// SPDX-License-Identifier: MIT
#include "heddle/config/parameter_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "heddle/config/dram_standard.h"
#include "heddle/config/message.h"
#include "heddle/config/suggestion.h"

namespace heddle {
namespace {

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
  return text;
}

struct text_writer {
  const parameter& about;

  std::string operator()(const std::string* v) const { return *v; }
  std::string operator()(const std::vector<unsigned>* v) const {
    std::string text;
    for (const unsigned number : *v) text += (text.empty() ? "" : ",") + std::to_string(number);
    return text;
  }
  std::string operator()(const unsigned* v) const { return std::to_string(*v); }
  std::string operator()(const double* v) const { return fmt::format("{}", *v); }
  std::string operator()(const bool* v) const { return *v ? "true" : "false"; }
  // An invalid enumerator, set by a C++ program, is shown as its number; check() rejects it.
  std::string operator()(const choice_value& v) const {
    return *v.number < about.choices.size() ? about.choices[*v.number] : std::to_string(*v.number);
  }
};

struct text_setter {
  const parameter& about;
  const std::string& text;

  std::string operator()(std::string* v) const {
    *v = text;
    return {};
  }
  std::string operator()(std::vector<unsigned>* v) const {
    std::vector<unsigned> numbers;
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto skip_spaces = [&] { at = std::find_if(at, end, [](char c) { return c != ' '; }); };
    do {
      unsigned number = 0;
      skip_spaces();
      const auto result = std::from_chars(at, end, number);
      if (result.ec != std::errc()) return about.values();
      numbers.push_back(number);
      at = result.ptr;
      skip_spaces();
    } while (at != end && *at++ == ',');
    if (at != end || text.back() == ',' || !about.holds(numbers)) return about.values();
    *v = std::move(numbers);
    return {};
  }
  std::string operator()(unsigned* v) const {
    unsigned parsed = 0;
    if (const std::string wrong = parse(parsed, "an unsigned integer"); !wrong.empty()) return wrong;
    *v = parsed;
    return {};
  }
  std::string operator()(double* v) const {
    double parsed = 0;
    if (const std::string wrong = parse(parsed, "a number"); !wrong.empty()) return wrong;
    if (!std::isfinite(parsed)) return "a number";
    *v = parsed;
    return {};
  }
  std::string operator()(bool* v) const {
    if (text != "true" && text != "false") return "true or false";
    *v = text == "true";
    return {};
  }
  std::string operator()(const choice_value& v) const {
    for (std::size_t k = 0; k < about.choices.size(); ++k) {
      if (about.choices[k] != text) continue;
      *v.number = static_cast<std::uint8_t>(k);
      return {};
    }
    return joined(about.choices) + suggestion(text, about.choices);
  }

  template <class T>
  std::string parse(T& parsed, const char* what) const {
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, parsed);
    if (result.ptr != end || result.ec == std::errc::invalid_argument) return what;
    return result.ec == std::errc() ? "" : about.range.text();  // a number that T cannot represent
  }
};

bool is_power_of_two(double value) {
  int exponent = 0;
  return value >= 1 && std::frexp(value, &exponent) == 0.5;
}

}  // namespace

const char* text_of(parameter_unit unit) {
  switch (unit) {
    case parameter_unit::none:
    case parameter_unit::count: return "";
    case parameter_unit::per_cycle: return "per cycle";
    case parameter_unit::lanes: return "lanes";
    case parameter_unit::cycles: return "core cycles";
    case parameter_unit::l2_cycles: return "L2 cycles";
    case parameter_unit::dram_cycles: return "DRAM cycles";
    case parameter_unit::bytes: return "bytes";
    case parameter_unit::bytes_per_cycle: return "bytes per cycle";
    case parameter_unit::bytes_per_core_cycle: return "bytes per core cycle";
    case parameter_unit::mib: return "MiB";
    case parameter_unit::mhz: return "MHz";
    case parameter_unit::gb_per_second: return "GB/s";
    case parameter_unit::us: return "us";
    case parameter_unit::pj: return "pJ";
    case parameter_unit::watts: return "W";
    case parameter_unit::volts: return "V";
  }
  return "";
}

const char* text_of(parameter_source source) {
  switch (source) {
    case parameter_source::guide: return "programming guide";
    case parameter_source::calculator: return "occupancy calculator";
    case parameter_source::product: return "product data";
    case parameter_source::measured: return "microbenchmark";
    case parameter_source::data_sheet: return "DRAM data sheet";
    case parameter_source::power: return "measured power";
    case parameter_source::design: return "design choice";
    case parameter_source::setting: return "setting";
  }
  return "";
}

bool numeric_range::holds(double value) const {
  if ((which == form::or_zero || which == form::warp_rates_or_zero) && value == 0) return true;
  if (!(value >= lowest && value <= highest)) return false;
  switch (which) {
    case form::any:
    case form::or_zero: break;
    case form::powers_of_two: return is_power_of_two(value);
    case form::multiples_of_32: return std::fmod(value, 32) == 0;
    case form::warp_rates:
    case form::warp_rates_or_zero: return is_warp_rate(value);
  }
  return true;
}

std::string numeric_range::text() const {
  const std::string between = lowest == highest ? fmt::format("{}", lowest) : fmt::format("{} to {}", lowest, highest);
  switch (which) {
    case form::any: break;
    case form::or_zero: return "0 or " + between;
    case form::powers_of_two: return "a power of two, " + between;
    case form::multiples_of_32: return "a multiple of 32, " + between;
    case form::warp_rates: return "32 / a whole number of cycles, " + between;
    case form::warp_rates_or_zero: return "0, or 32 / a whole number of cycles, " + between;
  }
  return between;
}

std::string parameter::values() const {
  if (is_number()) return range.text();
  if (is_choice()) return joined(choices);
  if (is_list) return "ascending numbers, " + range.text() + ", separated by commas";
  return is_text ? "text" : "true, false";
}

bool parameter::holds(const std::vector<unsigned>& numbers) const {
  return !numbers.empty() &&
         std::all_of(numbers.begin(), numbers.end(), [this](unsigned n) { return range.holds(n); }) &&
         std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
}

const std::vector<parameter>& parameters() {
  static const std::vector<parameter> all = [] {
    std::vector<parameter> rows = parameter_rows();
    const gpu_config defaults;
    for (parameter& p : rows) p.default_text = text_of(p, defaults);
    return rows;
  }();
  return all;
}

const parameter* find_parameter(const std::string& name) {
  static const std::map<std::string, const parameter*> by_name = [] {
    std::map<std::string, const parameter*> all;
    for (const parameter& p : parameters()) all[p.name()] = &p;
    return all;
  }();
  const auto found = by_name.find(current_name(name));
  return found == by_name.end() ? nullptr : found->second;
}

const std::vector<renamed_parameter>& renamed_parameters() {
  static const std::vector<renamed_parameter> all = {
      {"sm.warp_dealing", "sm.warp_assignment"},
      {"sub_partition.convergence_patience_turns", "sub_partition.convergence_patience_iterations"},
  };
  return all;
}

std::string current_name(const std::string& name) {
  for (const renamed_parameter& r : renamed_parameters())
    if (r.former == name) return r.now;
  return name;
}

std::string renamed_text(const std::vector<std::string>& former_names) {
  std::vector<std::string> parts;
  for (const std::string& name : former_names) {
    const std::string part = name + " (now " + current_name(name) + ")";
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
  }
  return parts.empty() ? "" : "former names of parameters are used: " + joined(parts);
}

std::vector<parameter_reference> parameters_of(gpu_config& config) {
  std::vector<parameter_reference> all;
  all.reserve(parameters().size());
  for (const parameter& p : parameters()) all.push_back({&p, p.in(config)});
  return all;
}

std::string text_of(const parameter_reference& r) { return std::visit(text_writer{*r.about}, r.value); }

std::string text_of(const parameter& p, const gpu_config& config) {
  // The pointer is used for reading only.
  return text_of({&p, p.in(const_cast<gpu_config&>(config))});
}

std::string set_text(const parameter_reference& r, const std::string& text) {
  return std::visit(text_setter{*r.about, text}, r.value);
}

bool determines_others(const parameter& p) { return p.name() == "dram.preset" || p.name() == "dram.standard"; }

std::string set_text(gpu_config& config, const parameter& p, const std::string& text) {
  const value_pointer value = p.in(config);
  std::string expected = set_text({&p, value}, text);
  const auto* chosen = std::get_if<choice_value>(&value);
  if (!expected.empty() || chosen == nullptr) return expected;
  if (static_cast<void*>(chosen->number) == &config.dram.preset) apply_dram_preset(config.dram);
  if (static_cast<void*>(chosen->number) == &config.dram.standard) apply_dram_standard(config.dram);
  return expected;
}

std::string without_links(const std::string& description) {
  std::string text;
  for (std::size_t i = 0; i < description.size(); ++i) {
    const std::size_t name_end = description[i] == '[' ? description.find("](", i) : std::string::npos;
    const std::size_t end = name_end == std::string::npos ? name_end : description.find(')', name_end);
    if (end == std::string::npos) {
      text += description[i];
      continue;
    }
    text += description.substr(i + 1, name_end - i - 1);
    i = end;
  }
  return text;
}

}  // namespace heddle

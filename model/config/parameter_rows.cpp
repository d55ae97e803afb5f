// SPDX-License-Identifier: MIT
// The table of parameters, made from the rows of parameter_list.h; the ranges that the rows name; and the words of the
// choice whose values are numbers, gpu.compute_capability.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "heddle/config/parameter_table.h"

namespace heddle {
namespace {

using unit = parameter_unit;
using form = numeric_range::form;

constexpr double warp_threads = 32;

constexpr numeric_range between(double lowest, double highest) { return {lowest, highest}; }
constexpr numeric_range powers_of_two(double lowest, double highest) { return {lowest, highest, form::powers_of_two}; }
constexpr numeric_range multiples_of_32(double lowest, double highest) {
  return {lowest, highest, form::multiples_of_32};
}

constexpr numeric_range latency{1, 100000};
constexpr numeric_range delay{0, 100000};  // for latencies that may be 0
// A unit accepts one warp instruction in a cycle at most. Nothing between zero and the narrowest unit is allowed: an
// instruction would take millions of cycles.
constexpr numeric_range lanes{1.0 / 64, 32, form::warp_rates};
constexpr numeric_range optional_lanes{1.0 / 64, 32, form::warp_rates_or_zero};
constexpr numeric_range multiply_adds{1.0 / 64, 65536, form::or_zero};
constexpr numeric_range entries{1, 65536};
constexpr numeric_range clock_mhz{1, 100000};
constexpr numeric_range port_bytes{1, 4096};
constexpr numeric_range optional_port_bytes{0, 4096};
constexpr numeric_range shared_bytes{0, 16777216};
constexpr numeric_range cache_ways{1, 4096};
constexpr numeric_range picojoules{0, 1000000000};
constexpr numeric_range watts{0, 100000};
constexpr numeric_range volts{0.1, 10};
constexpr numeric_range carveout_kb{0, 16384};
constexpr numeric_range voltage_points{0, 10000};
constexpr numeric_range optional_volts{0.1, 10, form::or_zero};

/// The compute capabilities of existing chips, major*10 + minor, ascending. A chip's abilities are looked up by its
/// compute capability, and those of other chips are unknown.
constexpr int versions[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37,  50,  52,  53,  60,  61, 62,
                            70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

std::string text_of(int version) { return std::to_string(version / 10) + "." + std::to_string(version % 10); }

/// The words of a list separated by commas, without the '_' at the end of an enumerator that is a word of C++.
std::vector<std::string> separated(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t from = 0; (from = list.find_first_not_of(", ", from)) != std::string::npos;) {
    const std::size_t end = std::min(list.find(',', from), list.size());
    words.push_back(list.substr(from, end - from));
    if (words.back().back() == '_') words.back().pop_back();
    from = end;
  }
  return words;
}

/// What all rows have in common. Rows are added one by one: a braced list of them takes the compiler four times as
/// long.
parameter& add_row(std::vector<parameter>& all, const char* section, const char* key, const char* description, unit u,
                   parameter_source from, const numeric_range& range) {
  return all.emplace_back(parameter{section, key, description, u, from, range, {}, "", {}, {}, false, false});
}
parameter& add_row(std::vector<parameter>& all, const char* section, const char* key, const char* description,
                   parameter_source from) {
  return add_row(all, section, key, description, unit::none, from, {});
}
parameter& add_choice(std::vector<parameter>& all, const char* section, const char* key, const char* description,
                      parameter_source from, const std::string& words) {
  parameter& row = add_row(all, section, key, description, from);
  row.choices = separated(words);
  return row;
}
parameter& add_list(std::vector<parameter>& all, const char* section, const char* key, const char* description,
                    parameter_source from, const numeric_range& range) {
  parameter& row = add_row(all, section, key, description, unit::none, from, range);
  row.is_list = true;
  return row;
}
/// `row` acts only while the choice `key` of its section is one of `names`.
parameter& with(parameter& row, const char* key, const char* names) {
  row.description = std::string(names) + ": " + row.description;
  row.needs = {row.section + "." + key, separated(names)};
  return row;
}

/// Says where the value of a row is.
template <class S, class T>
void place(parameter& row, S gpu_config::*section, T S::*member) {
  row.is_text = std::is_same_v<T, std::string>;
  row.in = [section, member](gpu_config& config) -> value_pointer {
    T* const value = &(config.*section.*member);
    if constexpr (std::is_enum_v<T>) {
      static_assert(std::is_same_v<std::underlying_type_t<T>, std::uint8_t>, "choices.h: enumerations are bytes");
      return choice_value{reinterpret_cast<std::uint8_t*>(value)};
    } else {
      return value;
    }
  };
}

// One function for each section, with a statement for each row.
// clang-format off
#define HEDDLE_SECTION(member, name)                     \
  void rows_of_##member(std::vector<parameter>& all) {   \
    using p = name##_parameters;                         \
    constexpr auto in_section = &gpu_config::member;     \
    const char* const section = #name;
#define HEDDLE_END(member, name) }
// clang-format on
#define HEDDLE_ROW(row, key) place(row, in_section, &p::key);
#define HEDDLE_NUMBER(type, key, value, range, unit_of, source, sentence) \
  HEDDLE_ROW(add_row(all, section, #key, sentence, unit::unit_of, parameter_source::source, range), key)
#define HEDDLE_NUMBER_WITH(choice, names, type, key, value, range, unit_of, source, sentence)                      \
  HEDDLE_ROW(                                                                                                      \
      with(add_row(all, section, #key, sentence, unit::unit_of, parameter_source::source, range), #choice, names), \
      key)
#define HEDDLE_FLAG(key, value, source, sentence) \
  HEDDLE_ROW(add_row(all, section, #key, sentence, parameter_source::source), key)
#define HEDDLE_TEXT(key, value, source, sentence) HEDDLE_FLAG(key, value, source, sentence)
#define HEDDLE_LIST(key, value, range, source, sentence) \
  HEDDLE_ROW(add_list(all, section, #key, sentence, parameter_source::source, range), key)
#define HEDDLE_SAME(enumeration, key, value, source, sentence) \
  HEDDLE_ROW(add_choice(all, section, #key, sentence, parameter_source::source, words_of(decltype(p::key){})), key)
#include "heddle/config/parameter_list.h"

}  // namespace

std::uint8_t choice::position_of(const std::string& word, const std::string& words) {
  const std::vector<std::string> all = separated(words);
  const auto found = std::find(all.begin(), all.end(), word);
  if (found == all.end()) throw input_error("'" + printable(word) + "' is none of " + words);
  return static_cast<std::uint8_t>(found - all.begin());
}

std::string choice::words_of(compute_capability) {
  std::string words;
  for (const int version : versions) words += text_of(version) + ",";
  return words;
}

int compute_capability(const gpu_config& config) {
  const auto row = static_cast<std::size_t>(config.gpu.compute_capability);
  return row < std::size(versions) ? versions[row] : 0;
}

unsigned warp_cycles(double lanes) { return narrow<unsigned>(std::max(std::round(warp_threads / lanes), 1.0)); }

bool is_warp_rate(double lanes) {
  const double cycles = warp_threads / lanes, whole = std::round(cycles);
  return whole >= 1 && std::abs(cycles - whole) <= 0.001 * whole;
}

std::string compute_capability_text(const gpu_config& config) { return text_of(compute_capability(config)); }

std::vector<parameter> parameter_rows() {
  std::vector<parameter> all;
#define HEDDLE_SECTION(member, name) rows_of_##member(all);
#include "heddle/config/parameter_list.h"
  return all;
}

}  // namespace heddle

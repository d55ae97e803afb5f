// SPDX-License-Identifier: MIT
// The table of parameters, made from the rows of parameter_list.h; the ranges that the rows name; and the words of the
// choice whose values are numbers, gpu.compute_capability.
#include <algorithm>
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

constexpr numeric_range between(double lowest, double highest) { return {lowest, highest}; }
constexpr numeric_range powers_of_two(double lowest, double highest) { return {lowest, highest, form::powers_of_two}; }
constexpr numeric_range multiples_of_32(double lowest, double highest) {
  return {lowest, highest, form::multiples_of_32};
}

constexpr numeric_range latency{1, 100000};
constexpr numeric_range delay{0, 100000};  // for latencies that may be 0
constexpr numeric_range lanes{1.0 / 64, 128};
// Nothing between zero and the narrowest unit is allowed: an instruction would take millions of cycles.
constexpr numeric_range optional_lanes{1.0 / 64, 128, form::or_zero};
constexpr numeric_range multiply_adds{1.0 / 64, 65536, form::or_zero};
constexpr numeric_range entries{1, 65536};
constexpr numeric_range clock_mhz{1, 100000};
constexpr numeric_range port_bytes{1, 4096};
constexpr numeric_range shared_bytes{0, 16777216};
constexpr numeric_range cache_ways{1, 4096};
constexpr numeric_range picojoules{0, 1000000000};
constexpr numeric_range watts{0, 100000};
constexpr numeric_range volts{0.1, 10};
constexpr numeric_range carveout_kb{0, 16384};
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

/// A row of the section whose parameters are the struct S.
template <class S>
struct row {
  parameter about;
  std::function<value_pointer(S&)> in;
};

template <class S, class T>
row<S> number(T S::*member, const char* key, const numeric_range& range, unit u, parameter_source from,
              const char* description) {
  return {{"", key, description, u, from, range, {}, "", {}, {}, false},
          [member](S& s) -> value_pointer { return &(s.*member); }};
}
template <class S>
row<S> flag(bool S::*member, const char* key, parameter_source from, const char* description) {
  return {{"", key, description, unit::none, from, {}, {}, "", {}, {}, false},
          [member](S& s) -> value_pointer { return &(s.*member); }};
}
template <class S>
row<S> text(std::string S::*member, const char* key, parameter_source from, const char* description) {
  return {{"", key, description, unit::none, from, {}, {}, "", {}, {}, false},
          [member](S& s) -> value_pointer { return &(s.*member); }};
}
template <class S>
row<S> list(std::vector<unsigned> S::*member, const char* key, const numeric_range& range, parameter_source from,
            const char* description) {
  return {{"", key, description, unit::none, from, range, {}, "", {}, {}, true},
          [member](S& s) -> value_pointer { return &(s.*member); }};
}
template <class S, class E>
row<S> choice_of(E S::*member, const char* key, parameter_source from, const char* description) {
  static_assert(std::is_same<std::underlying_type_t<E>, std::uint8_t>::value, "choices.h: enumerations are bytes");
  return {{"", key, description, unit::none, from, {}, separated(words_of(E{})), "", {}, {}, false},
          [member](S& s) -> value_pointer { return choice_value{reinterpret_cast<std::uint8_t*>(&(s.*member))}; }};
}
/// `about` acts only while the choice `key` of its section is one of `names`.
template <class S>
row<S> with(row<S> about, const char* key, const char* names) {
  about.about.description = std::string(names) + ": " + about.about.description;
  about.about.needs = {key, separated(names)};
  return about;
}

template <class S>
std::vector<parameter> section(S gpu_config::*where, const char* name, std::vector<row<S>> rows) {
  std::vector<parameter> all;
  all.reserve(rows.size());
  for (row<S>& r : rows) {
    r.about.section = name;
    if (!r.about.needs.key.empty()) r.about.needs.key = r.about.section + "." + r.about.needs.key;
    r.about.in = [where, in = std::move(r.in)](gpu_config& config) { return in(config.*where); };
    all.push_back(std::move(r.about));
  }
  return all;
}

// One function for each section, with a braced list of its rows.
// clang-format off
#define HEDDLE_SECTION(member, name)                                 \
  std::vector<parameter> rows_of_##member() {                        \
    using p = name##_parameters;                                     \
    return section<p>(&gpu_config::member, #name, {
#define HEDDLE_END(member, name) }); }
// clang-format on
#define HEDDLE_NUMBER(type, key, value, range, unit_of, source, sentence) \
  number(&p::key, #key, range, unit::unit_of, parameter_source::source, sentence),
#define HEDDLE_NUMBER_WITH(choice, names, type, key, value, range, unit_of, source, sentence) \
  with(number(&p::key, #key, range, unit::unit_of, parameter_source::source, sentence), #choice, names),
#define HEDDLE_FLAG(key, value, source, sentence) flag(&p::key, #key, parameter_source::source, sentence),
#define HEDDLE_TEXT(key, value, source, sentence) text(&p::key, #key, parameter_source::source, sentence),
#define HEDDLE_LIST(key, value, range, source, sentence) list(&p::key, #key, range, parameter_source::source, sentence),
#define HEDDLE_SAME(enumeration, key, value, source, sentence) \
  choice_of(&p::key, #key, parameter_source::source, sentence),
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

std::string compute_capability_text(const gpu_config& config) { return text_of(compute_capability(config)); }

std::vector<parameter> parameter_rows() {
  std::vector<parameter> all;
  const auto add = [&all](std::vector<parameter> rows) {
    all.insert(all.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  };
#define HEDDLE_SECTION(member, name) add(rows_of_##member());
#include "heddle/config/parameter_list.h"
  return all;
}

}  // namespace heddle

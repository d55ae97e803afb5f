// SPDX-License-Identifier: MIT
#include "config/parameter_table.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace heddle {
namespace {

struct text_writer {
  std::string operator()(const std::string* v) const { return *v; }
  std::string operator()(const unsigned* v) const { return std::to_string(*v); }
  std::string operator()(const double* v) const { return fmt::format("{}", *v); }
  std::string operator()(const bool* v) const { return *v ? "true" : "false"; }
};

struct text_setter {
  const std::string& text;

  std::string operator()(std::string* v) const {
    *v = text;
    return {};
  }
  std::string operator()(unsigned* v) const {
    unsigned parsed = 0;
    if (!all_of_it(parsed)) return "an unsigned integer";
    *v = parsed;
    return {};
  }
  std::string operator()(double* v) const {
    double parsed = 0;
    if (!all_of_it(parsed) || !std::isfinite(parsed)) return "a number";
    *v = parsed;
    return {};
  }
  std::string operator()(bool* v) const {
    if (text != "true" && text != "false") return "true or false";
    *v = text == "true";
    return {};
  }

  template <class T> bool all_of_it(T& parsed) const {
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, parsed);
    return result.ec == std::errc() && result.ptr == end;
  }
};

}  // namespace

std::vector<parameter_reference> parameters_of(gpu_config& config) {
  std::vector<parameter_reference> all;
  config.visit_sections([&](const char* section, auto& parameters) {
    auto add = [&](const char* key, auto& member, const char* description) {
      all.push_back({section, key, description, &member});
    };
    parameters.visit(add);
  });
  return all;
}

std::string text_of(const parameter_reference& parameter) { return std::visit(text_writer{}, parameter.value); }

std::string set_text(const parameter_reference& parameter, const std::string& text) {
  return std::visit(text_setter{text}, parameter.value);
}

}  // namespace heddle

// SPDX-License-Identifier: MIT
// nlohmann's JSON. Its parser and its writer are compiled once and with optimisation, in json_text.cpp, not in each
// test without.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#define HEDDLE_PARSER(EXTERN, JSON, FROM, PARAMETER) \
  EXTERN template JSON JSON::parse<FROM>(PARAMETER, const JSON::parser_callback_t, const bool, const bool)
#define HEDDLE_PARSERS(EXTERN, JSON)                                   \
  HEDDLE_PARSER(EXTERN, JSON, std::string, std::string&&);             \
  HEDDLE_PARSER(EXTERN, JSON, std::string&, std::string&);             \
  HEDDLE_PARSER(EXTERN, JSON, const std::string&, const std::string&); \
  HEDDLE_PARSER(EXTERN, JSON, std::ifstream&, std::ifstream&);         \
  EXTERN template JSON::string_t JSON::dump(int, char, bool, JSON::error_handler_t) const

namespace heddle::test {

/// The metrics of a run without the parts of which most of the text is: SMs, intervals, configuration and sources, and
/// what the lines and instructions of kernels did.
nlohmann::ordered_json whole_run_metrics(const std::string& text);

}  // namespace heddle::test

HEDDLE_PARSERS(extern, nlohmann::json);
HEDDLE_PARSERS(extern, nlohmann::ordered_json);

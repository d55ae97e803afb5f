// SPDX-License-Identifier: MIT
// nlohmann's JSON. Its parser is compiled once and with optimisation, in json_text.cpp, not in each test without.
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
  HEDDLE_PARSER(EXTERN, JSON, std::ifstream&, std::ifstream&)

HEDDLE_PARSERS(extern, nlohmann::json);
HEDDLE_PARSERS(extern, nlohmann::ordered_json);

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>

#include "tests/system/common/json_text.h"

namespace heddle {

/// Validates JSON against a draft-7 schema. It supports only the keywords that docs/use/job.schema.json uses.
class schema_validator {
 public:
  using json = nlohmann::json;
  explicit schema_validator(const json& schema) : root_(schema) {}
  [[nodiscard]] bool valid(const json& v) const { return valid(v, root_); }

 private:
  static bool is(const json& v, const std::string& type) {
    if (type == "object") return v.is_object();
    if (type == "array") return v.is_array();
    if (type == "string") return v.is_string();
    if (type == "boolean") return v.is_boolean();
    if (type == "null") return v.is_null();
    if (type == "number") return v.is_number();
    if (type == "integer") return v.is_number_integer();
    throw std::logic_error("type " + type);
  }

  [[nodiscard]] std::size_t matches(const json& v, const json& schemas) const {
    return static_cast<std::size_t>(
        std::count_if(schemas.begin(), schemas.end(), [&](const json& s) { return valid(v, s); }));
  }

  [[nodiscard]] bool valid(const json& v, const json& s) const {
    for (const auto& [word, value] : s.items())
      if (!holds(v, s, word, value)) return false;
    return true;
  }

  [[nodiscard]] bool holds(const json& v, const json& s, const std::string& word, const json& value) const {
    if (word == "$ref") return valid(v, root_.at(json::json_pointer(value.get<std::string>().substr(1))));
    if (word == "type") {
      if (value.is_string()) return is(v, value);
      return std::any_of(value.begin(), value.end(), [&](const json& t) { return is(v, t); });
    }
    if (word == "enum") return std::find(value.begin(), value.end(), v) != value.end();
    if (word == "const") return v == value;
    if (word == "oneOf") return matches(v, value) == 1;
    if (word == "anyOf") return matches(v, value) > 0;
    if (word == "not") return !valid(v, value);
    if (word == "required" || word == "properties" || word == "additionalProperties" || word == "dependencies" ||
        word == "minProperties" || word == "maxProperties")
      return !v.is_object() || holds_for_object(v, s, word, value);
    if (word == "items")
      return !v.is_array() || std::all_of(v.begin(), v.end(), [&](const json& i) { return valid(i, value); });
    if (word == "minItems") return !v.is_array() || v.size() >= value;
    if (word == "maxItems") return !v.is_array() || v.size() <= value;
    if (word == "minLength") return !v.is_string() || v.get<std::string>().size() >= value;
    if (word == "minimum") return !v.is_number() || v >= value;
    if (word == "exclusiveMinimum") return !v.is_number() || v > value;
    if (word == "maximum") return !v.is_number() || v <= value;
    if (word == "pattern")
      return !v.is_string() || std::regex_search(v.get<std::string>(), expression(value.get<std::string>()));
    for (const char* silent : {"$schema", "$id", "title", "description", "default", "definitions"})
      if (word == silent) return true;
    throw std::logic_error("the validator does not know the word " + word);
  }

  [[nodiscard]] bool holds_for_object(const json& v, const json& s, const std::string& word, const json& value) const {
    if (word == "minProperties") return v.size() >= value;
    if (word == "maxProperties") return v.size() <= value;
    if (word == "required")
      return std::all_of(value.begin(), value.end(), [&](const json& k) { return v.contains(k.get<std::string>()); });
    for (const auto& [key, part] : v.items()) {
      const bool known = s.contains("properties") && s["properties"].contains(key);
      if (word == "properties" && known && !valid(part, value.at(key))) return false;
      if (word == "additionalProperties" && !known && (value.is_boolean() ? !value.get<bool>() : !valid(part, value)))
        return false;
      if (word != "dependencies" || !value.contains(key)) continue;
      for (const json& other : value.at(key))
        if (!v.contains(other.get<std::string>())) return false;
    }
    return true;
  }

  // Each pattern is compiled once.
  [[nodiscard]] const std::regex& expression(const std::string& pattern) const {
    const auto found = expressions_.find(pattern);
    return (found != expressions_.end() ? found : expressions_.emplace(pattern, pattern).first)->second;
  }

  const json& root_;
  mutable std::map<std::string, std::regex> expressions_;
};

}  // namespace heddle

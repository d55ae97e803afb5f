// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/config/error.h"

namespace heddle::testbench {

/// A JSON value with its position in the text, for error messages.
struct json_value {
  enum class kind : std::uint8_t { null, boolean, number, string, array, object };
  kind what = kind::null;
  bool truth = false;
  std::string text;                                       // string: its content; number: as written in the text
  std::vector<json_value> items;                          // array: elements; object: values
  std::vector<std::string> keys;                          // object: key of each item, in the order written
  std::vector<std::pair<unsigned, unsigned>> key_places;  // object: line and column of each key
  unsigned line = 0;
  unsigned column = 0;

  [[nodiscard]] const json_value* find(std::string_view key) const;
};

/// Parses a JSON text. Throws input_error with the position for syntax errors, a duplicate key in one object, and
/// nesting above 64 levels.
json_value parse_json(const std::string& text, const std::string& file_name);

/// Reads an object key by key with checks; every message names the position and the path ("launches[0].args[2]").
/// finish() throws for a key that was not read.
class json_reader {
 public:
  json_reader(const json_value& value, const std::string& file, std::string path);

  const json_value* optional(const std::string& key);
  const json_value& required(const std::string& key);
  [[nodiscard]] bool has(const std::string& key) const { return value_.find(key) != nullptr; }

  std::uint64_t number(const std::string& key, std::uint64_t otherwise, std::uint64_t maximum = ~std::uint64_t{0});
  double real(const std::string& key, double otherwise);
  /// False if the key is missing.
  bool truth(const std::string& key);
  std::string string(const std::string& key);
  [[nodiscard]] std::string path_of(const std::string& key) const;
  /// The position of a key's value, or of the object if the key is missing.
  [[nodiscard]] std::string place(const std::string& key) const;
  [[nodiscard]] std::string place() const { return place_of(value_); }
  /// Adds keys that this kind of object accepts. They are used only in the message of finish().
  void offer(const std::vector<std::string>& keys) { offered_.insert(offered_.end(), keys.begin(), keys.end()); }
  void finish() const;
  /// For an object that lacks all of the `wanted` keys: names the key that may be a misspelling, as suggestion()
  /// formats it.
  [[nodiscard]] std::string suggestion_among(const std::vector<std::string>& wanted) const;

  [[nodiscard]] std::string place_of(const json_value& v) const;
  [[noreturn]] void fail(const json_value& v, const std::string& path, const std::string& message) const;
  [[nodiscard]] std::uint64_t to_number(const json_value& v, const std::string& path, std::uint64_t maximum) const;
  /// The index of a string among `names`.
  [[nodiscard]] std::size_t to_choice(const json_value& v, const std::string& path,
                                      const std::vector<std::string>& names) const;
  [[nodiscard]] const json_value& expect(const json_value& v, json_value::kind kind, const std::string& path) const;
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const json_value& value_;
  const std::string& file_;
  std::string path_;
  std::vector<std::string> asked_;
  std::vector<std::string> offered_;
};

}  // namespace heddle::testbench

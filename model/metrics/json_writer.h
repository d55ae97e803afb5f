// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle {

/// Writes JSON text value by value, keys in the order of the calls. Floating-point numbers are printed with the fewest
/// digits that read back to the same value; infinities and NaN, which JSON lacks, become null. The caller must close
/// what it opens.
class json_writer {
 public:
  json_writer& begin_object() { return open('{'); }
  json_writer& end_object() { return close('}'); }
  json_writer& begin_array() { return open('['); }
  json_writer& end_array() { return close(']'); }
  json_writer& key(std::string_view name);
  json_writer& value(std::string_view text);
  json_writer& value(const char* text) { return value(std::string_view(text)); }
  json_writer& value(const std::string& text) { return value(std::string_view(text)); }
  json_writer& value(double number);
  json_writer& value(bool truth);
  json_writer& null() { return raw("null"); }
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  json_writer& value(T number) {
    if constexpr (std::is_signed_v<T>) {
      return raw(std::to_string(static_cast<long long>(number)));
    } else {
      return raw(std::to_string(static_cast<unsigned long long>(number)));
    }
  }
  /// The elements of an array. Lists often hold the same number many times, such as the energy of idle SMs.
  json_writer& values(const std::vector<double>& numbers);
  template <class T>
  json_writer& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  /// For texts of so many characters: they grow without being copied.
  void reserve(std::size_t characters) { text_.reserve(characters); }
  /// The text so far, with a final newline.
  [[nodiscard]] std::string text() const { return text_ + "\n"; }

 private:
  json_writer& open(char bracket);
  json_writer& close(char bracket);
  json_writer& raw(std::string_view token);
  void separate();
  void repeat(std::size_t from, std::size_t times);

  std::string text_;
  std::string nesting_;         // open brackets
  std::string margin_ = ",\n";  // between members of the innermost object: the next line's indentation, too
  bool first_ = true;           // the innermost bracket is empty
  bool after_key_ = false;
  double last_number_ = 0;  // other than 0, as text in last_text_
  std::string last_text_;
};

}  // namespace heddle

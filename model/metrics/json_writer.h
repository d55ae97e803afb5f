// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
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
    if (number < 0) return raw(std::to_string(number));
    return raw(text_of(static_cast<std::uint64_t>(number)));
  }
  /// The elements of an array. Lists often hold the same number many times, such as the energy of idle SMs.
  json_writer& values(const std::vector<double>& numbers);
  json_writer& values(const std::vector<std::uint64_t>& numbers);
  /// So many equal elements of an array.
  json_writer& values(double number, std::size_t times);
  template <class T>
  json_writer& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  /// For texts of so many characters: they grow without being copied.
  void reserve(std::size_t characters) { text_.reserve(characters); }
  /// The text, with a final newline. The writer begins anew.
  [[nodiscard]] std::string text();

 private:
  json_writer& open(char bracket);
  json_writer& close(char bracket);
  json_writer& raw(std::string_view token);
  template <class T>
  json_writer& runs(const std::vector<T>& numbers);
  json_writer& tokens(std::string_view token, std::size_t times);
  std::string_view text_of(double number);
  std::string_view text_of(std::uint64_t number);
  void put(std::string_view text);
  void put_long(std::string_view text);
  void put_parts();
  [[nodiscard]] std::string_view separator() const;
  void separate();

  std::string text_;                // without parts_
  std::array<char, 8192> parts_{};  // short texts, which are collected here
  std::size_t parts_size_ = 0;
  std::string nesting_;         // open brackets
  std::string margin_ = ",\n";  // between members of the innermost object: the next line's indentation, too
  bool first_ = true;           // the innermost bracket is empty
  bool after_key_ = false;
  // Numbers as text: those of a kernel's launches are often the same, and making one takes 400 instructions.
  struct number_text {
    double number = std::numeric_limits<double>::quiet_NaN();  // none so far
    std::array<char, 31> text{};
    std::uint8_t size = 0;
  };
  std::vector<number_text> numbers_;  // by hash; empty before the first
  std::array<char, 24> whole_text_{};
};

}  // namespace heddle

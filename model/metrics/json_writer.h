// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle {

/// The key of a member that is a constant of the program: a literal, or a name_of(). It must not be freed.
struct constant_key {
  const char* text;
};

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
  /// A number's text as key.
  json_writer& key(std::uint64_t number);
  /// As of a text, which is examined once for each nesting.
  json_writer& key(constant_key name);
  template <std::size_t N>
  json_writer& key(const char (&name)[N]) {
    return key(constant_key{name});
  }
  json_writer& value(std::string_view text);
  json_writer& value(const char* text) { return value(std::string_view(text)); }
  json_writer& value(const std::string& text) { return value(std::string_view(text)); }
  json_writer& value(double number);
  json_writer& value(bool truth);
  json_writer& null() { return raw("null"); }
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  json_writer& value(T number) {
    if (number < 0) return raw(std::to_string(number));
    return whole(static_cast<std::uint64_t>(number));
  }
  /// The elements of an array. Lists often hold the same number many times, such as the energy of idle SMs.
  json_writer& values(const std::vector<double>& numbers);
  json_writer& values(const std::vector<std::uint64_t>& numbers);
  /// So many equal elements of an array.
  json_writer& values(double number, std::size_t times);
  template <class K, class T>
  json_writer& member(const K& name, const T& v) {
    return key(name).value(v);
  }
  /// Members of the open object whose keys are a constant list of constants: as constant_key each, with one look-up.
  template <std::size_t N>
  json_writer& members(const std::array<const char*, N>& names, const std::array<double, N>& numbers) {
    return members(names.data(), numbers.data(), N);
  }
  /// What write() writes from `numbers` and from nothing else; what was written of the same numbers before is written
  /// again; it does not write other such texts. Call it behind a key, or for members of the open object.
  template <class T, class Write>
  json_writer& again_or(const T& numbers, Write&& write) {
    return again_or(&numbers, 1, write);
  }
  /// The same of a list.
  template <class T, class Write>
  json_writer& again_or(const std::vector<T>& numbers, Write&& write) {
    return again_or(numbers.data(), numbers.size(), write);
  }

  /// For texts of so many characters: they grow without being copied.
  void reserve(std::size_t characters) { text_.reserve(characters); }
  /// Characters written so far.
  [[nodiscard]] std::size_t size() const { return text_.size() + parts_size_; }
  /// Gives away what has been written so far: text() and size() go on behind it.
  template <class Sink>
  void drain(Sink&& sink) {
    put_parts();
    sink(std::string_view(text_));
    text_.clear();
  }
  /// The text, with a final newline. The writer begins anew.
  [[nodiscard]] std::string text();

 private:
  static constexpr std::size_t parts_bytes = 8192;
  static constexpr std::size_t padded_bytes = 64;  // of a short text that is copied with what lies behind it
  static constexpr std::array<char, padded_bytes> no_number{"null"};
  /// The text of a number; so far, of a NaN.
  struct number_text {
    std::uint64_t bits = ~std::uint64_t{0};
    std::size_t size = 4;
    std::array<char, padded_bytes> text = no_number;
  };
  struct key_text {
    const char* name = nullptr;  // none so far
    std::size_t margin = 0;      // size of the margin before it
    std::size_t size = 0;
    std::array<char, padded_bytes + 1> text{};  // with the margin, the quotes and the colon
  };
  /// Those of a list of keys.
  struct key_list {
    const char* const* names = nullptr;
    std::size_t margin = 0;
    std::vector<key_text> texts;
  };
  struct known_text {
    const void* kind = nullptr;  // none so far
    std::size_t margin = 0;      // size of the margin before members
    bool first = true;           // of their object
    bool after_key = false;
    std::vector<std::byte> numbers;
    std::string text;
  };
  template <class T, class Write>
  json_writer& again_or(const T* numbers, std::size_t count, Write& write) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);
    static constexpr char kind = 0;  // its address
    known_text& known = find(&kind, numbers, count * sizeof(T));
    if (known.kind == &kind) return again(known);
    const std::size_t from = size();
    write();
    remember(known, &kind, size() - from);
    return *this;
  }
  known_text& find(const void* kind, const void* numbers, std::size_t bytes);
  void remember(known_text& as, const void* kind, std::size_t characters);
  json_writer& again(const known_text& known);
  json_writer& open(char bracket);
  json_writer& close(char bracket);
  json_writer& raw(std::string_view token);
  json_writer& whole(std::uint64_t number);
  template <class T>
  json_writer& runs(const std::vector<T>& numbers);
  json_writer& tokens(std::string_view token, std::size_t times);
  std::string_view text_of(double number);
  std::string_view text_of(std::uint64_t number);
  void put(std::string_view text);
  void put(char c);
  void put_padded(const char* text, std::size_t size);
  void put_long(std::string_view text);
  void put_parts();
  bool make_key(key_text& to, const char* name);
  json_writer& members(const char* const* names, const double* numbers, std::size_t count);
  const key_text* keys_of(const char* const* names, std::size_t count);
  void separate();

  std::string text_;                                      // without parts_
  std::array<char, parts_bytes + padded_bytes> parts_{};  // short texts, which are collected here
  std::size_t parts_size_ = 0;                            // at most parts_bytes
  std::string nesting_;                                   // open brackets
  std::string margin_ = ",\n";   // between members of an object: the next line's indentation, too
  std::size_t margin_size_ = 2;  // of the innermost object
  bool first_ = true;            // the innermost bracket is empty
  bool after_key_ = false;
  // Numbers as text: those of a kernel's launches are often the same, and making one takes 400 instructions.
  std::vector<number_text> numbers_;  // by hash; empty before the first
  std::vector<key_text> keys_;        // likewise
  std::vector<key_list> key_lists_;   // few
  std::vector<known_text> texts_;     // likewise
  std::array<char, 24> whole_text_{};
};

}  // namespace heddle

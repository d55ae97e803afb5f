// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heddle::conformance {

/// A short text stored in place, which is cheap to compare with a literal: the reference compares words in each step
/// of each thread.
class word {
 public:
  word() = default;
  word(std::string_view text) : size_(static_cast<std::uint8_t>(text.size())) {
    if (text.size() > sizeof text_) throw std::length_error("a word of " + std::to_string(text.size()) + " characters");
    std::memcpy(text_, text.data(), text.size());
  }
  word(const std::string& text) : word(std::string_view(text)) {}
  word(const char* text) : word(std::string_view(text)) {}

  [[nodiscard]] std::string_view view() const { return {text_, size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  char operator[](std::size_t k) const { return text_[k]; }
  [[nodiscard]] char back() const { return text_[size_ - 1]; }

  template <std::size_t N>
  friend bool operator==(const word& a, const char (&literal)[N]) {
    // Most words differ in their first character, and need no call.
    return a.size_ == N - 1 && a.text_[0] == literal[0] && std::memcmp(a.text_, literal, N - 1) == 0;
  }
  template <std::size_t N>
  friend bool operator!=(const word& a, const char (&literal)[N]) {
    return !(a == literal);
  }

 private:
  std::uint8_t size_ = 0;
  char text_[47] = {};
};

}  // namespace heddle::conformance
